#!/bin/sh
# Gets one certificate for all names of the stack and renews it. Until the names point at this host, it keeps trying.
set -eu

live=/etc/letsencrypt/live/stack
names=$(cat /domains)

obtain() {
  set --
  for name in $names; do set -- "$@" -d "$name"; done
  if [ -n "${ACME_EMAIL:-}" ]; then set -- "$@" --email "$ACME_EMAIL"; else set -- "$@" --register-unsafely-without-email; fi
  [ -z "${ACME_SERVER:-}" ] || set -- "$@" --server "$ACME_SERVER"
  certbot certonly --non-interactive --agree-tos --keep-until-expiring --expand \
    --config-dir /etc/letsencrypt/acme --work-dir /tmp/certbot --logs-dir /tmp/certbot \
    --webroot --webroot-path /var/www/acme --cert-name stack "$@"
}

install() {
  from=/etc/letsencrypt/acme/live/stack
  [ -s "$from/privkey.pem" ] && [ -s "$from/fullchain.pem" ] || return 1
  mkdir -p "$live"
  cp "$from/privkey.pem" "$live/privkey.pem.new"
  cp "$from/fullchain.pem" "$live/fullchain.pem.new"
  mv "$live/privkey.pem.new" "$live/privkey.pem"
  mv "$live/fullchain.pem.new" "$live/fullchain.pem"
  rm -f "$live/self-signed"
}

trap 'exit 0' TERM INT
while :; do
  if obtain && install; then
    sleep 43200 &
  else
    echo "certbot: no certificate yet; trying again in ten minutes" >&2
    sleep 600 &
  fi
  wait $!
done
