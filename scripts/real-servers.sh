#!/bin/sh
# Installs the real MCP servers and clients of tests/real below the target directory, at the pinned versions.
# Does nothing when they are there already.
set -eu

cd "$(dirname "$0")/.."
real=${CARGO_TARGET_DIR:-target}/real
pins=tests/real

# The server of SQLite is of the SDK before, and has its own place.
sqlite=$(cat $pins/sqlite.txt | cksum; python3 --version; uname -m)
if [ "$(cat "$real/sqlite.installed" 2>/dev/null)" != "$sqlite" ]; then
    mkdir -p "$real"
    rm -f "$real/sqlite.installed"
    python3 -m venv --clear "$real/sqlite"
    scripts/again.sh "$real/sqlite/bin/pip" install --quiet --disable-pip-version-check --requirement $pins/sqlite.txt
    printf '%s\n' "$sqlite" >"$real/sqlite.installed"
fi

# What an installation depends on: the pins, and the programs that were used.
wanted=$(cat $pins/package-lock.json $pins/requirements.txt | cksum; node --version; python3 --version; uname -m)
[ "$(cat "$real/installed" 2>/dev/null)" != "$wanted" ] || exit 0

echo "satchel: installing the real servers and clients for the tests into $real"
mkdir -p "$real"
rm -f "$real/installed"
cp $pins/package.json $pins/package-lock.json "$real/"
# The Inspector wants a newer Node than ours may be; it gets its own from the same package list.
scripts/again.sh npm ci --prefix "$real" --ignore-scripts --no-audit --no-fund --loglevel=error
python3 -m venv --clear "$real/python"
scripts/again.sh "$real/python/bin/pip" install --quiet --disable-pip-version-check --requirement $pins/requirements.txt
# The fetch server installs a reader for pages at its first use; now is a better time than during a test.
"$real/python/bin/python" -c 'from readabilipy.simple_json import have_node; have_node()' >/dev/null
printf '%s\n' "$wanted" >"$real/installed"
