#!/bin/sh
# What the installers for Debian and Ubuntu share. Read by them with `.`, from the folder of the stack.

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail "run it as root"
command -v apt-get >/dev/null 2>&1 || fail "only Debian and Ubuntu are supported: there is no apt-get here"

# Prints the address of the host on Docker's bridge: where containers reach what runs here, and nobody else does.
bridge_address() {
  address=$(ip -4 -o addr show docker0 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4; exit }')
  printf '%s' "${address:-172.17.0.1}"
}

# stack_env NAME: prints a variable of .env.
stack_env() { sed -n "s/^$1=//p" .env | head -n 1; }

# install_packages NAME...: installs those that are missing.
install_packages() {
  missing=
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  apt-get update -qq
  # shellcheck disable=SC2086 # one word for each package
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# write_file PATH MODE OWNER: writes standard input there if it differs; returns 0 when it changed, 1 when not.
write_file() {
  new=$(mktemp)
  cat >"$new"
  if [ -f "$1" ] && cmp -s "$new" "$1"; then
    rm -f "$new"
    return 1
  fi
  install -D -m "$2" -o "${3%%:*}" -g "${3#*:}" "$new" "$1"
  rm -f "$new"
}

# run_service NAME CHANGED: enables a systemd service, and restarts it when something changed.
run_service() {
  if [ ! -d /run/systemd/system ]; then
    echo "systemd does not run here: start $1 yourself"
    return 0
  fi
  systemctl daemon-reload
  systemctl enable -q "$1"
  if [ "$2" = yes ]; then systemctl restart "$1"; else systemctl start "$1"; fi
}
