#!/bin/sh
# Writes a backup into backups/<date>/, or into the folder that is named: a dump of every database server, an archive
# of every other volume, .env and the configuration. Servers first write what they hold in memory, and containers are
# paused while their volumes are read.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

need_docker
need_env
umask 077
target=${1:-backups/$(date -u +%Y%m%dT%H%M%SZ)}
if [ -e "$target" ]; then fail "$target exists already"; fi
work=$target.partial
rm -rf "$work"
mkdir -p "$work/dumps" "$work/volumes"
paused=
cleanup() {
  # shellcheck disable=SC2086 # one word for each container
  [ -z "$paused" ] || docker unpause $paused >/dev/null
}
trap cleanup EXIT
trap 'exit 1' INT TERM

for name in $(docker compose ps --services --status running); do
  flush=$(label "$name" stackwright.flush)
  if [ -n "$flush" ]; then docker compose exec -T "$name" sh -c "$flush" >/dev/null || fail "$name did not write its data"; fi
  dump=$(label "$name" stackwright.dump)
  if [ -z "$dump" ]; then continue; fi
  say "dumping $name"
  docker compose exec -T "$name" sh -c "$dump" >"$work/dumps/$name" || fail "the dump of $name failed"
  [ -s "$work/dumps/$name" ] || fail "the dump of $name is empty"
done

# Everything that has no dump is archived from its volume, with its writers held still.
project=$(docker compose config | awk '$1 == "name:" { print $2; exit }' | tr -d '"')
for volume in $(docker volume ls -q --filter "label=com.docker.compose.project=$project"); do
  short=$(docker volume inspect --format '{{index .Labels "com.docker.compose.volume"}}' "$volume")
  if [ "$(docker volume inspect --format '{{index .Labels "stackwright.backup"}}' "$volume")" != archive ]; then continue; fi
  users=$(docker ps -aq --filter "volume=$volume")
  if [ -z "$users" ]; then continue; fi
  holder=$(printf '%s\n' "$users" | head -n 1)
  path=$(docker inspect --format "{{range .Mounts}}{{if eq .Name \"$volume\"}}{{.Destination}}{{end}}{{end}}" "$holder")
  paused=$(docker ps -q --filter "volume=$volume" --filter status=running | tr '\n' ' ')
  say "archiving $short"
  # shellcheck disable=SC2086 # one word for each container
  [ -z "$paused" ] || docker pause $paused >/dev/null
  docker cp "$holder:$path/." - >"$work/volumes/$short.tar" || fail "the archive of $short failed"
  # shellcheck disable=SC2086 # one word for each container
  [ -z "$paused" ] || docker unpause $paused >/dev/null
  paused=
done

cp .env "$work/.env"
set -- docker-compose.yml .env.example scripts
for file in configs skills Caddyfile traefik.yml nginx.conf; do
  if [ -e "$file" ]; then set -- "$@" "$file"; fi
done
tar -cf "$work/files.tar" "$@"
mv "$work" "$target"
say "backup written to $target"
