#!/usr/bin/env bash
# What: `gemini mcp add garden python3 server.py --timeout 5 -e production --verbose` (Gemini CLI 0.61.0), where all that follows the program is meant for it.
# Guess: what follows the program belongs to the program, as with `env`, `sudo` or `docker run`; an option that cannot be told apart is an error.
# Seen: it says "added" and exits with 0. The entry runs `server.py --verbose`: the timeout became the client's own setting, `-e production` is gone,
#   as it is no variable, and only the option that the client does not know reached the program. With `--` before the program's arguments all stay.
# Why it matters: instructions of servers are pasted as one line. The server runs with other options than its author wrote, and the file that others
#   read shows no trace of them.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p home project
cd project || exit 2
add() { # add ARGS…: how it ended, the arguments in the file, and its other settings
  local code
  rm -rf .gemini
  env HOME="$work/home" timeout 60 ../node_modules/.bin/gemini mcp add "$@" >../add.log 2>&1 </dev/null
  code=$?
  python3 - "$code" <<'PY'
import json, sys
entry = json.load(open(".gemini/settings.json"))["mcpServers"]["garden"]
print(sys.argv[1], "|", *entry["args"], "|", "timeout", entry.get("timeout", "none"), "env", entry.get("env", {}))
PY
}
plain=$(add garden python3 server.py --timeout 5 -e production --verbose)
dashes=$(add garden python3 -- server.py --timeout 5 -e production --verbose)

echo "version:  Gemini CLI 0.61.0"
echo "expected: server.py --timeout 5 -e production --verbose, both times"
echo "seen:     plain: $plain"
echo "          with --: $dashes"
[ "$plain" = "0 | server.py --verbose | timeout 5 env {}" ] && [[ "$dashes" = "0 | server.py --timeout 5 -e production --verbose | "* ]] || { tail -n 3 ../add.log; echo "changed"; exit 1; }
