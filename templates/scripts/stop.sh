#!/bin/sh
# Stops the stack. Data stays in its volumes.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

need_docker
need_env
remove_containers
say "stopped; scripts/start.sh starts it again"
