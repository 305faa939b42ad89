#!/bin/sh
# The OpenClaw gateway from npm, with a Node of its own, as the systemd service openclaw.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC1091 # it lies beside this script
. native/linux/common.sh

home=/var/lib/openclaw
program=/opt/openclaw
version=$(sed -n 's/^openclaw //p' native/versions)

# libatomic1: the Node of the npm package node is linked with it.
install_packages npm git ca-certificates curl libatomic1
id openclaw >/dev/null 2>&1 || useradd --system --home-dir "$home" --create-home --shell /usr/sbin/nologin openclaw
mkdir -p "$program"
changed=no
export npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false npm_config_loglevel=error
if ! grep -q '"version": "26\.' "$program/node_modules/node/package.json" 2>/dev/null; then
  npm install --prefix "$program" node@26 npm@11 >/dev/null
  changed=yes
fi
if ! grep -q "\"version\": \"$version\"" "$program/node_modules/openclaw/package.json" 2>/dev/null; then
  PATH="$program/node_modules/.bin:$PATH" npm install --prefix "$program" "openclaw@$version" >/dev/null
  changed=yes
fi

install -d -m 0750 -o root -g openclaw /etc/openclaw
if write_file /etc/openclaw/config.yaml 640 root:openclaw <configs/openclaw/config.yaml; then changed=yes; fi
if [ -d skills ]; then
  if ! diff -r skills /etc/openclaw/skills >/dev/null 2>&1; then
    rm -rf /etc/openclaw/skills
    cp -R skills /etc/openclaw/skills
    chmod -R a+rX /etc/openclaw/skills
    changed=yes
  fi
fi
# Variables of the stack that the gateway is given, with ${NAME} filled in from .env.
if awk -F= '
  NR == FNR { value[$1] = substr($0, length($1) + 2); next }
  {
    name = $1
    text = substr($0, length(name) + 2)
    out = ""
    while (match(text, /\$\{[A-Z][A-Z0-9_]*\}/)) {
      out = out substr(text, 1, RSTART - 1) value[substr(text, RSTART + 2, RLENGTH - 3)]
      text = substr(text, RSTART + RLENGTH)
    }
    print name "=" out text
  }' .env native/openclaw.env | write_file /etc/openclaw/environment 640 root:openclaw; then changed=yes; fi
if write_file /etc/systemd/system/openclaw.service 644 root:root <<EOF; then changed=yes; fi
[Unit]
Description=OpenClaw gateway
After=network-online.target docker.service
Wants=network-online.target

[Service]
User=openclaw
WorkingDirectory=$home
Environment=HOME=$home OPENCLAW_STATE_DIR=$home/.openclaw OPENCLAW_CONFIG_PATH=/etc/openclaw/config.yaml STACKWRIGHT_SKILLS=/etc/openclaw/skills
EnvironmentFile=/etc/openclaw/environment
ExecStart=$program/node_modules/.bin/node $program/node_modules/openclaw/openclaw.mjs gateway --port 18789
Restart=on-failure
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
ReadWritePaths=$home

[Install]
WantedBy=multi-user.target
EOF
run_service openclaw "$changed"
