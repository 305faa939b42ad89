#!/bin/sh
# Starts the stack: writes .env on the first run, starts every container, waits until all is healthy, prints addresses.
# START_TIMEOUT (seconds, default 900) is how long it waits. --env-only writes .env and stops there.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

random_hex() { od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

# random_value FORMAT LENGTH: prints a random value. alnum draws from 62 characters without bias.
random_value() {
  case $1 in
    hex) random_hex $((($2 + 1) / 2)) | cut -c "1-$2" ;;
    alnum) od -An -v -N $(($2 * 4)) -tu1 /dev/urandom | awk -v n="$2" '
      BEGIN { letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" }
      { for (i = 1; i <= NF && length(value) < n; i++) if ($i < 248) value = value substr(letters, $i % 62 + 1, 1) }
      END { print value }' ;;
    base64) od -An -v -N "$2" -tu1 /dev/urandom | awk '
      BEGIN { letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" }
      { for (i = 1; i <= NF; i++) byte[n++] = $i }
      END {
        for (i = 0; i < n; i += 3) {
          bits = byte[i] * 65536 + byte[i + 1] * 256 + byte[i + 2]
          value = value substr(letters, int(bits / 262144) + 1, 1) substr(letters, int(bits / 4096) % 64 + 1, 1)
          value = value (i + 1 < n ? substr(letters, int(bits / 64) % 64 + 1, 1) : "=") (i + 2 < n ? substr(letters, bits % 64 + 1, 1) : "=")
        }
        print value
      }' ;;
    uuid) random_hex 16 | awk '{
      variant = substr("89ab", index("0123456789abcdef", substr($0, 17, 1)) % 4 + 1, 1)
      print substr($0, 1, 8) "-" substr($0, 9, 4) "-4" substr($0, 14, 3) "-" variant substr($0, 18, 3) "-" substr($0, 21, 12)
    }' ;;
    *) fail "unknown format of a secret: $1" ;;
  esac
}

# Adds to .env what .env.example has and .env has not, and fills in secrets that are empty.
write_env() {
  umask 077
  [ -f .env ] || : >.env
  chmod 600 .env
  missing=$(awk '
    BEGIN { while ((getline line <".env") > 0) if (match(line, /^[A-Z][A-Z0-9_]*=/)) value[substr(line, 1, RLENGTH - 1)] = substr(line, RLENGTH + 1) }
    /^# generate: / { marker = $3 " " $4 " " $5; next }
    match($0, /^[A-Z][A-Z0-9_]*=/) {
      name = substr($0, 1, RLENGTH - 1)
      if (!(name in value) || (marker != "" && value[name] == "")) print name " " (marker == "" ? "-" : marker)
      marker = ""
    }' .env.example)
  [ -n "$missing" ] || return 0
  work=$(mktemp .env.XXXXXX)
  trap 'rm -f "$work"' EXIT
  cp .env "$work"
  if [ -s "$work" ] && [ -n "$(tail -c 1 "$work")" ]; then printf '\n' >>"$work"; fi
  # The loop reads all of its input before .env is replaced, so an interruption leaves the old file whole.
  while read -r name format length prefix; do
    [ -n "$name" ] || continue
    if [ "$format" = - ]; then
      grep "^$name=" .env.example >>"$work"
    else
      value=$prefix$(random_value "$format" "$length")
      if grep -q "^$name=" "$work"; then
        sed "s|^$name=\$|$name=$value|" "$work" >"$work.next"
        cat "$work.next" >"$work"
        rm -f "$work.next"
      else
        printf '%s=%s\n' "$name" "$value" >>"$work"
      fi
    fi
  done <<EOF
$missing
EOF
  mv "$work" .env
  trap - EXIT
  say "wrote .env (readable by you alone)"
}

write_env
[ "${1:-}" = --env-only ] && exit 0
if grep -qx 'services: {}' docker-compose.yml; then
  say "nothing of this stack runs in containers"
  exit 0
fi

need_docker
docker compose config --quiet || fail "the settings in .env do not fit docker-compose.yml"
services=$(docker compose config --services)

# The gateway first: a companion that cannot start must not keep it down.
if printf '%s\n' "$services" | grep -qx openclaw; then docker compose up -d openclaw || fail "the gateway did not start: docker compose logs openclaw"; fi
if ! docker compose up -d --remove-orphans; then
  # Compose gives up at the first container that does not start; the others are started by themselves.
  say "not everything started; starting the rest one by one"
  for name in $services; do docker compose up -d "$name" >/dev/null 2>&1 & done
  wait
fi

say "waiting until everything is healthy"
if wait_until_ready "${START_TIMEOUT:-900}"; then
  say "everything is healthy:"
  containers | awk 'NF > 5 { line = "  " $1; for (i = 6; i <= NF; i++) line = line "  " $i; print line }'
else
  say "not healthy:"
  { in_state waiting; in_state sick; } | sort -u | while read -r name; do say "  $name (docker compose logs $name)"; done
  exit 1
fi
