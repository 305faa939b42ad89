#!/bin/sh
# Makes the databases that other services have on this ClickHouse server, each with a user of its own.
# Runs on every start; what is there stays, passwords are brought up to date.
set -eu

export CLICKHOUSE_PASSWORD="$ROOT_PASSWORD"
for entry in $DATABASES; do
  database=${entry%%:*}
  rest=${entry#*:}
  variable=${rest%%:*}
  password=$(printenv "$variable")
  # Names and passwords are letters, digits and underscores: nothing needs escaping.
  clickhouse-client --host "$SERVER" --user "${CLICKHOUSE_USER:-default}" --multiquery <<SQL
CREATE DATABASE IF NOT EXISTS $database;
CREATE USER IF NOT EXISTS $database IDENTIFIED BY '$password';
ALTER USER $database IDENTIFIED BY '$password';
GRANT ALL ON $database.* TO $database;
SQL
  echo "database $database is ready"
done
