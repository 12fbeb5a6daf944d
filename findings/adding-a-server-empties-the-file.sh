#!/usr/bin/env bash
# What: `gemini mcp add` (@google/gemini-cli 0.61.0) in a project folder that has a .gemini/settings.json and is not marked as trusted,
#   as every folder is at first.
# Guess: the server is added to the file, or the command refuses because the folder is not trusted.
# Seen: exit code 0, and the file holds the new server alone. What a folder that is not trusted says is read as nothing, and written back
#   as that: the project's other servers and settings are gone.
# Why it matters: a hub that runs clients' own commands, or advises them, can cost people their settings; and an entry of the hub in such a file
#   vanishes without an edit by a person.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

export HOME="$work/home"
mkdir -p home project/.gemini
echo '{"ui": {"theme": "GitHub"}, "mcpServers": {"mine": {"command": "cat"}}}' >project/.gemini/settings.json
(cd project && timeout 120 ../node_modules/.bin/gemini mcp add other cat >../add.log 2>&1 </dev/null)
code=$?
echo "version:  @google/gemini-cli 0.61.0"
echo "expected: the theme, the servers mine and other; or an error"
echo "seen:     exit code $code, $(tr -d ' \n' <project/.gemini/settings.json)"
[ "$code" = 0 ] && grep -q other project/.gemini/settings.json && ! grep -q 'mine\|theme' project/.gemini/settings.json || { echo "changed"; exit 1; }
