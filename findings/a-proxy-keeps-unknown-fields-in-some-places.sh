#!/usr/bin/env bash
# What: mcp-proxy 6.7.19 (the one from npm) stands between a client over HTTP and a server of stdio. Both add fields of their own.
# Guess: what the proxy does not know it passes in both directions, or in neither.
# Seen: an unknown field of a result, of a list and of `_meta` arrives. An unknown parameter of a call, an unknown field of a tool, of its annotations
#   and of a block do not. A number with a fraction of zero (2.0) arrives as 2.
# Why it matters: an extension of the protocol works or not depending on where its fields stand, and a list read through the proxy is not the list
#   of the server: one approved without the proxy looks changed.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${proxy:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error mcp-proxy@6.7.19 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 that adds a field x-own everywhere; its tool returns what it was called with."""
import json, sys
OWN = {"x-own": True}
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {}, **OWN}, "annotations": {"readOnlyHint": True, **OWN}, "_meta": OWN, **OWN}
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list": return {"tools": [TOOL], **OWN}
    if method == "tools/call": return {"content": [{"type": "text", "text": json.dumps(params), **OWN}], "structuredContent": {"n": 2.0}, "_meta": OWN, **OWN}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params"))
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >ask.py <<'PY'
import json, sys, time, urllib.error, urllib.request
session = {}

def post(message):
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **session}
    request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/mcp", json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        if response.headers.get("mcp-session-id"):
            session.update({"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"})
        text = response.read().decode()
    data = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")] or [text]
    return data[-1]

for _ in range(100):
    try:
        post({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}})
        break
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.2)
post({"method": "notifications/initialized"})
listed = json.loads(post({"id": 2, "method": "tools/list"}))["result"]
text = post({"id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {}, "_meta": {"x-own": True}, "x-own": True}})
result = json.loads(text)["result"]
tool, sent = listed["tools"][0], json.loads(result["content"][0]["text"])
places = {"the result": result, "the list": listed, "_meta of the result": result.get("_meta", {}), "_meta of the tool": tool.get("_meta", {}), "_meta of the call": sent.get("_meta", {}), "the schema": tool["inputSchema"],
          "the parameters of the call": sent, "the tool": tool, "the annotations": tool["annotations"], "the block": result["content"][0]}
arrived = [name for name, value in places.items() if "x-own" in value]
lost = [name for name in places if name not in arrived]
number = text.split('"structuredContent":{"n":')[1].split("}")[0]
print("expected: the field arrives everywhere or nowhere")
print("seen:     arrives in", ", ".join(arrived))
print("          lost in", ", ".join(lost), "| 2.0 arrives as", number)
sys.exit(lost != ["the parameters of the call", "the tool", "the annotations", "the block"] or number != "2")
PY
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
node_modules/.bin/mcp-proxy --host 127.0.0.1 --port "$port" -- python3 server.py >proxy.log 2>&1 &
proxy=$!
echo "version:  mcp-proxy 6.7.19 (npm)"
timeout 120 python3 ask.py "$port" 2>ask.log || { tail -n 3 ask.log proxy.log; echo "changed"; exit 1; }
