#!/bin/sh
# Shows every container. Exits with 1 when one is missing, stopped or unhealthy.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it lies beside this script
. scripts/common.sh

need_docker
need_env
expected=$(docker compose config --services | sort)
there=$(containers)
sick=$(
  in_state sick
  in_state waiting
  printf '%s\n' "$expected" | while read -r name; do
    printf '%s\n' "$there" | grep -q "^$name " || printf '%s\n' "$name"
  done
)

printf '%-32s %-12s %-12s %s\n' CONTAINER STATE HEALTH ADDRESS
printf '%s\n' "$expected" | while read -r name; do
  printf '%s\n' "$there" | awk -v name="$name" '
    $1 == name { address = ""; for (i = 6; i <= NF; i++) address = address $i " "; printf "%-32s %-12s %-12s %s\n", $1, $2 ($2 == "exited" ? "(" $4 ")" : ""), $3, address; found = 1 }
    END { if (!found) printf "%-32s %-12s %-12s\n", name, "missing", "-" }'
done
[ -z "$sick" ] || fail "not healthy: $(printf '%s\n' "$sick" | sort -u | tr '\n' ' ')"
