#!/bin/sh
# Interface of the official image's healthcheck.sh, as far as --connect and --innodb_initialized go.
exec mariadb-admin -h 127.0.0.1 -u healthcheck -phealthcheck ping
