#!/bin/sh
# restore.sh FOLDER: brings a backup of backup.sh back. The data of this stack is replaced by that of the backup.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

source=${1:-}
if [ -z "$source" ] || [ ! -d "$source/volumes" ]; then fail "usage: scripts/restore.sh FOLDER (a folder that backup.sh wrote)"; fi
need_docker
if [ -t 0 ] && [ "${2:-}" != --yes ]; then
  printf 'This replaces the data of the stack by that of %s. Go on? [y/N] ' "$source"
  read -r answer
  case $answer in [yY]*) ;; *) fail "nothing was changed" ;; esac
fi

# The secrets must be those that the data was written with.
umask 077
if [ -f .env ] && ! cmp -s .env "$source/.env"; then cp .env ".env.before-restore"; fi
cp "$source/.env" .env
scripts/start.sh --env-only

remove_containers
project=$(docker compose config | awk '$1 == "name:" { print $2; exit }' | tr -d '"')
for volume in $(docker volume ls -q --filter "label=com.docker.compose.project=$project"); do
  case $(docker volume inspect --format '{{index .Labels "stackwright.backup"}}' "$volume") in
    archive) saved=$source/volumes/$(docker volume inspect --format '{{index .Labels "com.docker.compose.volume"}}' "$volume").tar ;;
    dump) saved=$source/dumps/$(docker volume inspect --format '{{index .Labels "stackwright.service"}}' "$volume") ;;
    *) continue ;;
  esac
  if [ -f "$saved" ]; then docker volume rm "$volume" >/dev/null; fi
done

docker compose up --no-start
for archive in "$source"/volumes/*.tar; do
  [ -e "$archive" ] || continue
  short=$(basename "$archive" .tar)
  volume=${project}_$short
  holder=$(docker ps -aq --filter "volume=$volume" | head -n 1)
  if [ -z "$holder" ]; then
    say "skipping $short: no container of the stack uses it"
    continue
  fi
  path=$(docker inspect --format "{{range .Mounts}}{{if eq .Name \"$volume\"}}{{.Destination}}{{end}}{{end}}" "$holder")
  say "restoring $short"
  docker cp - "$holder:$path" <"$archive" || fail "restoring $short failed"
done

for dump in "$source"/dumps/*; do
  [ -e "$dump" ] || continue
  name=$(basename "$dump")
  restore=$(label "$name" stackwright.restore)
  if [ -z "$restore" ]; then
    say "skipping the dump of $name: the stack has no such database"
    continue
  fi
  say "restoring $name"
  docker compose up -d "$name"
  tries=0
  until [ "$(containers | awk -v name="$name" '$1 == name { print $3 }')" = healthy ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || fail "$name did not become healthy"
    sleep 2
  done
  docker compose exec -T "$name" sh -c "$restore" <"$dump" || fail "restoring $name failed"
done

exec scripts/start.sh
