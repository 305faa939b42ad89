#!/bin/sh
# Runs before nginx starts: puts a self-signed certificate where none is yet, so that nginx always comes up,
# and has nginx use a certificate that has arrived or was renewed.
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
  used=$(cksum <"$live/fullchain.pem")
  while sleep 10; do
    now=$(cksum <"$live/fullchain.pem") || continue
    [ "$used" = "$now" ] && continue
    nginx -s reload && used=$now
  done
) &
