#!/bin/sh
# Interface of the official mariadb image's entrypoint: root password, optional database and user.
set -e
[ "${1#-}" = "$1" ] || set -- mariadbd "$@"
if [ "$1" != mariadbd ] && [ "$1" != mysqld ]; then exec "$@"; fi
shift
data=/var/lib/mysql
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$data" /run/mysqld
  chown -R mysql:mysql "$data" /run/mysqld
  exec setpriv --reuid=mysql --regid=mysql --clear-groups "$0" mariadbd "$@"
fi
password=${MARIADB_ROOT_PASSWORD:-$MYSQL_ROOT_PASSWORD}
if [ ! -d "$data/mysql" ]; then
  if [ -z "$password" ]; then echo "MARIADB_ROOT_PASSWORD is not set" >&2; exit 1; fi
  mariadb-install-db --user=mysql --datadir="$data" --skip-test-db --auth-root-authentication-method=normal >/dev/null
  mariadbd --datadir="$data" --skip-networking --socket=/run/mysqld/init.sock &
  pid=$!
  until mariadb-admin --socket=/run/mysqld/init.sock -u root ping >/dev/null 2>&1; do sleep 0.3; done
  mariadb --socket=/run/mysqld/init.sock -u root <<SQL
ALTER USER 'root'@'localhost' IDENTIFIED BY '$password';
CREATE USER 'root'@'%' IDENTIFIED BY '$password';
GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;
CREATE USER 'healthcheck'@'localhost' IDENTIFIED BY 'healthcheck';
SQL
  kill "$pid"
  wait "$pid" || true
fi
exec mariadbd --datadir="$data" --bind-address=0.0.0.0 "$@"
