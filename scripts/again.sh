#!/bin/sh
# Runs a command, and again, up to three times in all, when it fails: a registry's bad moment need not stop a build.
#   scripts/again.sh npm ci
set -eu

for pause in 5 20; do
    "$@" && exit 0
    echo "satchel: \"$*\" failed; once more in $pause s" >&2
    sleep "$pause"
done
exec "$@"
