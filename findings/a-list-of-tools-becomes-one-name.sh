#!/usr/bin/env bash
# What: `gemini mcp add --include-tools read,write` (Gemini CLI 0.61.0). The help says "A comma-separated list of tools to include".
# Guess: two names in the file. Written last, as other options are, or first.
# Seen: one name, `read,write`, which no tool has, so that the client offers none of the server's tools. Given twice, once for each name, there are
#   two. Before the name of the server, the option takes that and the program as further names, and the command fails.
# Why it matters: what takes such an entry over with its limits gets a server without tools. A name with a comma in a list of tools
#   is a list.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p home project
cd project || exit 2
add() { # add ARGS…: the names in the file, or how it failed
  rm -rf .gemini
  env HOME="$work/home" timeout 60 ../node_modules/.bin/gemini mcp add "$@" >../add.log 2>&1 </dev/null || { echo "exit code $?"; return; }
  python3 -c 'import json; print(json.dumps(json.load(open(".gemini/settings.json"))["mcpServers"]["garden"]["includeTools"]))'
}
list=$(add garden python3 garden.py --include-tools read,write)
twice=$(add garden python3 garden.py --include-tools read --include-tools write)
first=$(add --include-tools read,write garden python3 garden.py)

echo "version:  Gemini CLI 0.61.0"
echo 'expected: ["read", "write"] from each'
echo "seen:     a list: $list; twice: $twice; before the name: $first"
[ "$list" = '["read,write"]' ] && [ "$twice" = '["read", "write"]' ] && [ "$first" = "exit code 1" ] || { echo "changed"; exit 1; }
