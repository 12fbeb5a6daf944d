#!/usr/bin/env bash
# What: a tool of a server raises an error, another answers with a picture, behind fastmcp-gateway 0.35.0, which shows a few tools in the place of many.
# Guess: the result of `execute_tool` is marked as an error when the tool's is, and a picture stays a picture.
# Seen: the failed call is a success (`isError` false) with a text that says {"error": …}. The picture is a text, the way Python writes an object:
#   "type='image' data=…": its bytes reach the model as letters.
# Why it matters: records and statistics behind such a gateway see no failure, ever; a model sees one only if it reads the text. Pictures cost as
#   many tokens as they have letters. Before a hub, this gateway hides what the hub would count.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${server:-}" "${gateway:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp-gateway==0.35.0 fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
from fastmcp import FastMCP
from fastmcp.utilities.types import Image
server = FastMCP("shop")
@server.tool
def order() -> str: raise ValueError("the account is locked")
@server.tool
def photo() -> Image: return Image(data=b"not really a picture", format="png")
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
PY
cat >ask.py <<'PY'
"""Calls tools of the gateway over HTTP."""
import json, sys, time, urllib.error, urllib.request
address, session = f"http://127.0.0.1:{sys.argv[1]}/mcp", {}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def post(body):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
    with opener.open(urllib.request.Request(address, json.dumps({"jsonrpc": "2.0", **body}).encode(), headers), timeout=30) as answer:
        if answer.headers["Mcp-Session-Id"]: session.update({"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        for line in answer.read().decode().splitlines():
            text = line.removeprefix("data:").strip()
            if text.startswith("{") and (message := json.loads(text)).get("id") == body.get("id"): return message["result"]
for attempt in range(80):
    try:
        post({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}})
        break
    except urllib.error.URLError:
        time.sleep(0.5)
post({"method": "notifications/initialized"})
def call(name, arguments): return post({"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
order, photo = (call("execute_tool", {"tool_name": name, "arguments": {}}) for name in ("order", "photo"))
print("expected: order: isError True; photo: a block of type image")
print(f"seen:     order: isError {order['isError']}, {order['content'][0]['text']}")
print(f"seen:     photo: a block of type {photo['content'][0]['type']}, {photo['content'][0]['text'][:80]}…")
sys.exit(not (order["isError"] is False and json.loads(order["content"][0]["text"])["code"] == "upstream_error" and "the account is locked" in order["content"][0]["text"]
              and photo["content"][0]["type"] == "text" and "type='image' data='" in photo["content"][0]["text"]))
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free)
venv/bin/python server.py "$port" >server.log 2>&1 &
server=$!
for _ in $(seq 100); do python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>wait.log && break; sleep 0.3; done
own=$(free)
GATEWAY_UPSTREAMS="{\"shop\": \"http://127.0.0.1:$port/mcp\"}" GATEWAY_HOST=127.0.0.1 GATEWAY_PORT=$own venv/bin/python -m fastmcp_gateway >gateway.log 2>&1 &
gateway=$!
echo "version:  fastmcp-gateway 0.35.0, fastmcp 4.2.3"
timeout 90 python3 ask.py "$own" 2>ask.log || { tail -n 3 ask.log gateway.log server.log; echo "changed"; exit 1; }
