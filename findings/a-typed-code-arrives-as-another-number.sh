#!/usr/bin/env bash
# What: a tool is called by three command lines, with `code=12345678901234567890 confirm=yes`; its schema says that `code` is a string and `confirm` a
#   boolean. They are the inspector 2.12.0 (`--cli`), @apify/mcpc 0.2.6 and mcporter 0.12.3.
# Guess: a value whose schema says string is sent as it was typed; "yes" is true, or refused.
# Seen: the inspector and mcpc send a number, with other digits (12345678901234567000). "yes" becomes false in the inspector, and a text in the two others.
#   Only mcporter sends the code as a text.
# Why it matters: these are the tools with which people try a server that fails in a hub. Here the server receives another order number than was
#   typed, and a "no"; "it works in the inspector" is no proof of either. A hub's own command line should take JSON as it is written.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/inspector@2.12.0 @apify/mcpc@0.2.6 mcporter@0.12.3 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server whose only tool writes down its arguments, as they stood in the message, in the file that it is given."""
import json, sys
SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}, "confirm": {"type": "boolean"}}}
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "tools/call": print(json.dumps(request["params"]["arguments"], sort_keys=True), file=open(sys.argv[1], "w"))
    if "id" in request:
        result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "orders", "version": "1"}}, "ping": {},
                  "tools/list": {"tools": [{"name": "cancel_order", "inputSchema": SCHEMA}]}, "tools/call": {"content": [{"type": "text", "text": "ok"}]}}.get(request["method"])
        answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
PY
mkdir home
export HOME="$work/home"
echo "{\"mcpServers\": {\"orders\": {\"command\": \"python3\", \"args\": [\"$work/server.py\", \"$work/mcpc.seen\"]}}}" >servers.json
code=12345678901234567890
timeout 45 node_modules/.bin/mcp-inspector --cli python3 server.py inspector.seen --method tools/call --tool-name cancel_order --tool-arg code=$code --tool-arg confirm=yes >tools.log 2>&1 </dev/null
{ timeout 45 node_modules/.bin/mcpc connect servers.json:orders @finding && timeout 20 node_modules/.bin/mcpc @finding tools-call cancel_order code:=$code confirm:=yes; } >>tools.log 2>&1 </dev/null
timeout 20 node_modules/.bin/mcpc close @finding >>tools.log 2>&1 </dev/null
timeout 45 node_modules/.bin/mcporter call --stdio "python3 server.py mcporter.seen" cancel_order code=$code confirm=yes >>tools.log 2>&1 </dev/null
echo "version:  inspector 2.12.0, mcpc 0.2.6, mcporter 0.12.3"
echo "typed:    code=$code confirm=yes"
echo "expected: {\"code\": \"$code\", \"confirm\": true}"
for tool in inspector mcpc mcporter; do echo "seen:     $(cat $tool.seen)   ($tool)"; done
[ "$(cat inspector.seen)" = '{"code": 12345678901234567000, "confirm": false}' ] && [ "$(cat mcpc.seen)" = '{"code": 12345678901234567000, "confirm": "yes"}' ] &&
  [ "$(cat mcporter.seen)" = "{\"code\": \"$code\", \"confirm\": \"yes\"}" ] || { tail -n 5 tools.log; echo "changed"; exit 1; }
