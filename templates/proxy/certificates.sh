#!/bin/sh
# Runs before nginx starts: puts a self-signed certificate where none is yet, so that nginx always comes up,
# and reloads nginx twice a day, so that renewed certificates are used.
set -eu

domain='@DOMAIN@'
reach='@REACH@'
[ "$reach" = local ] && exit 0

live=/etc/letsencrypt/live/stack
if [ ! -s "$live/fullchain.pem" ] || [ ! -s "$live/privkey.pem" ]; then
  mkdir -p "$live"
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=$domain" \
    -addext "subjectAltName=DNS:$domain,DNS:*.$domain" \
    -keyout "$live/privkey.pem" -out "$live/fullchain.pem" 2>/dev/null
  touch "$live/self-signed"
fi

(
  while sleep 60; do
    seen=$(cat /tmp/certificate.sum 2>/dev/null || true)
    now=$(cksum <"$live/fullchain.pem")
    [ "$seen" = "$now" ] && continue
    printf '%s\n' "$now" >/tmp/certificate.sum
    [ -z "$seen" ] || nginx -s reload
  done
) &
