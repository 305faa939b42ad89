#!/bin/sh
# Makes the databases that other services have on this MySQL or MariaDB server, each with a user of its own.
# Runs on every start; what is there stays, passwords are brought up to date.
set -eu

client=mysql
command -v mysql >/dev/null 2>&1 || client=mariadb
export MYSQL_PWD="$ROOT_PASSWORD"

for entry in $DATABASES; do
  database=${entry%%:*}
  rest=${entry#*:}
  variable=${rest%%:*}
  password=$(printenv "$variable")
  # Names and passwords are letters, digits and underscores: nothing needs escaping.
  "$client" -h "$SERVER" -u root <<SQL
CREATE DATABASE IF NOT EXISTS \`$database\` CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS '$database'@'%' IDENTIFIED BY '$password';
ALTER USER '$database'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON \`$database\`.* TO '$database'@'%';
SQL
  echo "database $database is ready"
done
