#!/bin/sh
# Installs the official conformance suite below the target directory, at the pinned versions.
# Does nothing when it is there already.
set -eu

cd "$(dirname "$0")/.."
suite=${CARGO_TARGET_DIR:-target}/conformance
pins=tests/conformance

# What an installation depends on: the pins, and the programs that were used.
wanted=$(cksum <$pins/package-lock.json; node --version; uname -m)
[ "$(cat "$suite/installed" 2>/dev/null)" != "$wanted" ] || exit 0

echo "satchel: installing the conformance suite into $suite"
mkdir -p "$suite"
rm -f "$suite/installed"
cp $pins/package.json $pins/package-lock.json "$suite/"
# The newer suite wants a newer Node than ours may be; it gets its own from the same package list.
scripts/again.sh npm ci --prefix "$suite" --ignore-scripts --no-audit --no-fund --loglevel=error
printf '%s\n' "$wanted" >"$suite/installed"
