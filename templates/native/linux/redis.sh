#!/bin/sh
# Redis from the distribution, with the stack's password, on loopback and on Docker's bridge.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC1091 # it lies beside this script
. native/linux/common.sh

install_packages redis-server iproute2
bridge=$(bridge_address)
changed=no
if write_file /etc/redis/stackwright.conf 640 root:redis <<EOF; then changed=yes; fi
bind 127.0.0.1 -::1 -$bridge
requirepass $(stack_env REDIS_PASSWORD)
appendonly yes
databases 256
EOF
grep -q '^include /etc/redis/stackwright.conf$' /etc/redis/redis.conf || {
  printf '\ninclude /etc/redis/stackwright.conf\n' >>/etc/redis/redis.conf
  changed=yes
}
run_service redis-server "$changed"
