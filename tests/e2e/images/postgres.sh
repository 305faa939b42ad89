#!/bin/sh
# Interface of the official postgres image's entrypoint: user, password, database, PGDATA, /docker-entrypoint-initdb.d.
set -e
[ "${1#-}" = "$1" ] || set -- postgres "$@"
if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres:postgres "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "$POSTGRES_PASSWORD" ]; then echo "POSTGRES_PASSWORD is not set" >&2; exit 1; fi
  printf '%s' "$POSTGRES_PASSWORD" >/tmp/pw
  initdb -D "$PGDATA" -U "${POSTGRES_USER:-postgres}" --pwfile=/tmp/pw --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 >/dev/null
  rm -f /tmp/pw
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start >/dev/null
  if [ -n "$POSTGRES_DB" ] && [ "$POSTGRES_DB" != postgres ]; then createdb -U "${POSTGRES_USER:-postgres}" "$POSTGRES_DB"; fi
  for file in /docker-entrypoint-initdb.d/*.sql; do [ -e "$file" ] && psql -q -U "${POSTGRES_USER:-postgres}" -d "${POSTGRES_DB:-postgres}" -f "$file"; done
  pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
shift
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
