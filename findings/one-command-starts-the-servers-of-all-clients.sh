#!/usr/bin/env bash
# What: `mcporter list` (mcporter 0.12.3) in a home folder where mcporter has no file of its own, and Codex, Cursor and opencode have one server each.
# Guess: "no servers configured".
# Seen: it starts the servers of all three and says where each stood. Nothing asks before, and no option has to be given for it.
# Why it matters: a program that a person tries once runs what other programs' files name. For a hub it is a reason to show what would run
#   before it takes entries over, and to count such a caller as a client of its own.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error mcporter@0.12.3 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import json, os, sys
with open(os.path.join(os.path.dirname(sys.argv[0]), "seen"), "a") as note:
    note.write(f"{sys.argv[1]}\n")
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = {"tools": []} if request["method"] == "tools/list" else {}
        if request["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "note", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
mkdir -p home/.codex home/.cursor home/.config/opencode project
echo "{\"mcpServers\": {\"two\": {\"command\": \"python3\", \"args\": [\"$work/server.py\", \"cursor\"]}}}" >home/.cursor/mcp.json
echo "{\"mcp\": {\"three\": {\"type\": \"local\", \"command\": [\"python3\", \"$work/server.py\", \"opencode\"]}}}" >home/.config/opencode/opencode.json
printf '[mcp_servers.one]\ncommand = "python3"\nargs = ["%s", "codex"]\n' "$work/server.py" >home/.codex/config.toml
cd project || exit 2
env HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" timeout 100 ../node_modules/.bin/mcporter list >../list.log 2>&1 </dev/null

echo "version:  mcporter 0.12.3"
echo "expected: nothing is started"
seen=$(sort -u ../seen 2>/dev/null)
echo "$seen" | sed 's/^/seen:     started for /'
[ "$seen" = "codex
cursor
opencode" ] || { tail -n 4 ../list.log; echo "changed"; exit 1; }
