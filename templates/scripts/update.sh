#!/bin/sh
# Pulls the images that docker-compose.yml names, recreates what changed, and waits until all is healthy.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

need_docker
need_env
docker compose pull || fail "an image could not be pulled; nothing was changed"
exec scripts/start.sh
