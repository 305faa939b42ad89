#!/bin/sh
# Interface of the official nginx image's entrypoint: runs /docker-entrypoint.d/*.sh, then the command.
set -e
for file in /docker-entrypoint.d/*.sh; do
  if [ -x "$file" ]; then "$file"; fi
done
exec "$@"
