#!/bin/sh
# Installs what of this stack runs on the host itself, one installer of native/ after another, and then starts the rest
# in containers. Running it again changes nothing that is already right.
set -eu
cd "$(dirname "$0")"

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *)
    echo "error: this script is for Linux and macOS; on Windows run install.ps1" >&2
    exit 1
    ;;
esac
if [ "$system" = linux ] && [ "$(id -u)" != 0 ]; then
  echo "error: run it as root: sudo ./install.sh" >&2
  exit 1
fi

scripts/start.sh --env-only
while read -r id; do
  if [ ! -f "native/$system/$id.sh" ]; then
    echo "error: $id has no installer for $system: ask for the stack again with the platform of this machine" >&2
    exit 1
  fi
  echo "== $id"
  sh "native/$system/$id.sh" </dev/null
done <native/order
exec scripts/start.sh
