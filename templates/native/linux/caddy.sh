#!/bin/sh
# Caddy from the distribution, with the Caddyfile of the stack.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC1091 # it lies beside this script
. native/linux/common.sh

install_packages caddy
changed=no
if write_file /etc/caddy/Caddyfile 644 root:root <Caddyfile; then changed=yes; fi
if write_file /etc/systemd/system/caddy.service.d/stackwright.conf 644 root:root <<EOF; then changed=yes; fi
[Service]
Environment="CADDY_GLOBAL_OPTIONS=$(stack_env CADDY_GLOBAL_OPTIONS)"
EOF
caddy validate --config /etc/caddy/Caddyfile --adapter caddyfile >/dev/null 2>&1 || fail "Caddy does not accept the Caddyfile"
run_service caddy "$changed"
