#!/bin/sh
# PostgreSQL from the distribution, on loopback and on Docker's bridge, with the databases that the stack's services have on it.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC1091 # it lies beside this script
. native/linux/common.sh

install_packages postgresql iproute2
version=$(find /etc/postgresql -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | tail -n 1)
folder=/etc/postgresql/$version/main
bridge=$(bridge_address)
changed=no
if write_file "$folder/conf.d/stackwright.conf" 644 postgres:postgres <<EOF; then changed=yes; fi
listen_addresses = 'localhost,$bridge'
password_encryption = scram-sha-256
EOF
# Containers come from a network of Docker's pools, or from the stack's own.
for network in 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16; do
  rule="host all all $network scram-sha-256"
  grep -qxF "$rule" "$folder/pg_hba.conf" || {
    printf '%s\n' "$rule" >>"$folder/pg_hba.conf"
    changed=yes
  }
done
# The bridge's address is there only when Docker runs.
if write_file /etc/systemd/system/postgresql@.service.d/stackwright.conf 644 root:root <<EOF; then changed=yes; fi
[Unit]
After=docker.service
EOF
run_service postgresql "$changed"
tries=0
until (cd / && su postgres -c 'psql -q -c "select 1"') >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 60 ] || fail "PostgreSQL does not answer"
  sleep 1
done

# From /, as the user postgres need not see the folder of the stack.
sql() { (cd / && su postgres -c "psql -q -X -v ON_ERROR_STOP=1 $1"); }
sql '-d postgres' <<EOF
ALTER ROLE postgres PASSWORD '$(stack_env POSTGRESQL_PASSWORD)';
EOF
while read -r server database variable extensions; do
  [ "$server" = postgresql ] || continue
  # Names and passwords are letters, digits and underscores: nothing needs escaping.
  sql '-d postgres' <<EOF
SELECT 'CREATE ROLE $database LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$database') \\gexec
ALTER ROLE $database LOGIN PASSWORD '$(stack_env "$variable")';
SELECT 'CREATE DATABASE $database OWNER $database' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '$database') \\gexec
REVOKE CONNECT ON DATABASE $database FROM PUBLIC;
EOF
  [ "$extensions" = - ] && continue
  for extension in $(printf '%s' "$extensions" | tr ',' ' '); do
    printf 'CREATE EXTENSION IF NOT EXISTS "%s" CASCADE;\n' "$extension" | sql "-d $database"
  done
done <native/databases
