#!/bin/sh
# Makes the databases that other services have on this MongoDB server, each with a user of its own.
# Runs on every start; what is there stays, passwords are brought up to date.
set -eu

export SERVER ROOT_PASSWORD
# shellcheck disable=SC2153 # DATABASES comes from the Compose file
for entry in $DATABASES; do
  DATABASE=${entry%%:*}
  rest=${entry#*:}
  variable=${rest%%:*}
  DATABASE_PASSWORD=$(printenv "$variable")
  export DATABASE DATABASE_PASSWORD
  # shellcheck disable=SC2016 # the dollars are JavaScript's
  mongosh --quiet --nodb --eval '
    const { SERVER, ROOT_PASSWORD, DATABASE, DATABASE_PASSWORD } = process.env;
    const database = connect(`mongodb://root:${ROOT_PASSWORD}@${SERVER}:27017/${DATABASE}?authSource=admin`);
    const roles = [{ role: "dbOwner", db: DATABASE }];
    if (database.getUser(DATABASE)) database.updateUser(DATABASE, { pwd: DATABASE_PASSWORD, roles });
    else database.createUser({ user: DATABASE, pwd: DATABASE_PASSWORD, roles });
  '
  echo "database $DATABASE is ready"
done
