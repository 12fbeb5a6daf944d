#!/bin/sh
# Runs a program on a session bus of its own, with an unlocked keychain that nobody else has.
set -eu
exec dbus-run-session -- sh -c '
    printf test-password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
    exec "$@"
' sh "$@"
