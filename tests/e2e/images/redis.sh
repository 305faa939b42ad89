#!/bin/sh
# Interface of the official redis image's entrypoint: started as root, it hands the server to the user redis.
set -e
if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then set -- redis-server "$@"; fi
if [ "$(id -u)" = 0 ] && { [ "$1" = redis-server ] || [ "$1" = valkey-server ]; }; then
  chown -R redis:redis /data
  exec setpriv --reuid=redis --regid=redis --clear-groups "$0" "$@"
fi
cd /data
exec "$@"
