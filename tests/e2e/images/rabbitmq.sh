#!/bin/sh
# Interface of the official rabbitmq image's entrypoint: started as root, it hands the data and the server to the user rabbitmq.
set -e
if [ "$(id -u)" = 0 ] && [ "$1" = rabbitmq-server ]; then
  chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
  exec setpriv --reuid=rabbitmq --regid=rabbitmq --clear-groups "$0" "$@"
fi
exec "$@"
