#!/bin/sh
# Installs the agents of tests/agents below the target directory, at the pinned versions: about 1 GB.
# Does nothing when they are there already.
set -eu

cd "$(dirname "$0")/.."
agents=${CARGO_TARGET_DIR:-target}/agents
pins=tests/agents

# What an installation depends on: the pins, and the programs that were used.
wanted=$(cksum <$pins/package-lock.json; node --version; uname -m)
[ "$(cat "$agents/installed" 2>/dev/null)" != "$wanted" ] || exit 0

echo "satchel: installing Codex, Gemini CLI, Qwen Code and opencode for the tests into $agents"
mkdir -p "$agents"
rm -f "$agents/installed"
cp $pins/package.json $pins/package-lock.json "$agents/"
# Not `npm ci`: it wants optional packages of other systems in the pins, which npm itself does not write there.
scripts/again.sh npm install --prefix "$agents" --ignore-scripts --no-audit --no-fund --loglevel=error
printf '%s\n' "$wanted" >"$agents/installed"
