#!/bin/sh
# Makes installers for this system: the app with the command line beside it, which clients start as their bridge.
#
#   scripts/bundle.sh [KIND…]    deb, rpm; app, dmg; nsis, msi; all that this system makes when none is named
#
# PROFILE=debug packs a build for finding faults.
set -eu

# Of the same series as the tauri crates.
tauri_cli=2.12.5

target=${CARGO_TARGET_DIR:-target}
case ${PROFILE:-release} in
    release) profile= ;;
    debug) profile=--debug ;;
    *) printf 'satchel: PROFILE is release or debug, not %s\n' "$PROFILE" >&2 && exit 1 ;;
esac
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
    *windows*) ending=.exe ;;
    *) ending= ;;
esac

if [ -n "$profile" ]; then cargo build -p satchel-cli; else cargo build --release -p satchel-cli; fi
mkdir -p "$target/beside"
cp "$target/${PROFILE:-release}/satchel$ending" "$target/beside/satchel-$host$ending"
beside=$(cd "$target/beside" && pwd)/satchel
# The window is built already: `make bundle` sees to it.
npx --yes "@tauri-apps/cli@$tauri_cli" build --ci $profile ${1:+--bundles "$@"} \
    --config "{\"build\": {\"beforeBuildCommand\": \"\"}, \"bundle\": {\"externalBin\": [\"$beside\"]}}"
