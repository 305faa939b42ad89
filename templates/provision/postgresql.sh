#!/bin/sh
# Makes the databases that other services have on this PostgreSQL server, each with a role of its own.
# Runs on every start; what is there stays, passwords and extensions are brought up to date.
set -eu

export PGHOST="$SERVER" PGUSER=postgres PGPASSWORD="$ROOT_PASSWORD"

for entry in $DATABASES; do
  database=${entry%%:*}
  rest=${entry#*:}
  variable=${rest%%:*}
  extensions=${rest#*:}
  DATABASE_PASSWORD=$(printenv "$variable")
  export DATABASE_PASSWORD
  psql -q -X -v ON_ERROR_STOP=1 -d postgres -v name="$database" <<'SQL'
\getenv password DATABASE_PASSWORD
SELECT format('CREATE ROLE %I LOGIN', :'name') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
ALTER ROLE :"name" LOGIN PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
  for extension in $(printf '%s' "$extensions" | tr ',' ' '); do
    psql -q -X -v ON_ERROR_STOP=1 -d "$database" -v extension="$extension" <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS :"extension" CASCADE;
SQL
  done
  echo "database $database is ready"
done
