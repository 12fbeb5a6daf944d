#!/usr/bin/env bash
# What: the command that lists the configured servers, in Claude Code 2.1.197, Gemini CLI 0.61.0, opencode 1.18.33, Codex 0.171.0 and Copilot CLI 1.0.102.
# Guess: it reads the file and prints what stands there, as `list` of a package manager does; a check is a command of its own.
# Seen: Claude Code, Gemini CLI and opencode start each server, open a session with it and end it again. Codex and Copilot start none.
#   What is run gets a whole session, for a line that says "connected".
# Why it matters: a script that looks whether an entry is there runs every server's program, downloads included, and each looks at the hub like a
#   client that comes and goes. A hub must not start its own servers because of a handshake.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 @anthropic-ai/claude-code@2.1.197 opencode-ai@1.18.33 \
  @openai/codex@0.171.0 @github/copilot@1.0.102 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import json, sys
note = open(sys.argv[1], "ab", buffering=0)
note.write(b"started ")
for line in sys.stdin:
    request = json.loads(line)
    note.write(request["method"].encode() + b" ")
    if "id" in request:
        result = {"tools": []} if request["method"] == "tools/list" else {}
        if request["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "note", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
mkdir -p home/.gemini home/.codex home/.copilot home/.config/opencode project
cd project || exit 2
entry() { echo "\"command\": \"python3\", \"args\": [\"$work/server.py\", \"$work/$1.seen\"]"; }
echo "{\"$work/project\": \"TRUST_FOLDER\"}" >../home/.gemini/trustedFolders.json
echo "{\"mcpServers\": {\"note\": {$(entry gemini)}}}" >../home/.gemini/settings.json
echo "{\"mcpServers\": {\"note\": {$(entry claude)}}}" >../home/.claude.json
echo "{\"mcpServers\": {\"note\": {\"type\": \"local\", \"tools\": [\"*\"], $(entry copilot)}}}" >../home/.copilot/mcp-config.json
echo "{\"mcp\": {\"note\": {\"type\": \"local\", \"command\": [\"python3\", \"$work/server.py\", \"$work/opencode.seen\"]}}}" >../home/.config/opencode/opencode.json
printf '[mcp_servers.note]\ncommand = "python3"\nargs = ["%s", "%s"]\n' "$work/server.py" "$work/codex.seen" >../home/.codex/config.toml

echo "version:  Claude Code 2.1.197, Gemini CLI 0.61.0, opencode 1.18.33, Codex 0.171.0, Copilot CLI 1.0.102"
echo "expected: nothing started by any"
started=
for client in claude gemini opencode codex copilot; do
  env HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_DATA_HOME="$work/home/.local" timeout 60 "../node_modules/.bin/$client" mcp list >"../$client.log" 2>&1 </dev/null
  [ -s "../$client.seen" ] && started="$started $client"
  grep -q note "../$client.log" || { echo "$client did not list the server:"; tail -n 3 "../$client.log"; echo "changed"; exit 1; }
  echo "seen:     $client: $(cat "../$client.seen" 2>/dev/null || echo nothing)"
done
[ "$started" = " claude gemini opencode" ] || { echo "changed"; exit 1; }
