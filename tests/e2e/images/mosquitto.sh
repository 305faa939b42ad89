#!/bin/sh
# Interface of the official eclipse-mosquitto image's entrypoint: as root it hands the data to the user mosquitto.
set -e
if [ "$(id -u)" = 0 ]; then chown -R mosquitto:mosquitto /mosquitto/data || true; fi
exec "$@"
