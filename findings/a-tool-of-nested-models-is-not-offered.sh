#!/usr/bin/env bash
# What: a server has two tools; the argument of one is an order that has deliveries, which have boxes, which have items: four models of pydantic, one in the
#   other. Before it stands fastmcp-gateway 0.35.0 as it is installed.
# Guess: both are offered.
# Seen: the gateway knows one tool; the other is "Unknown tool", with no other words for the client. The gateway's own log says that the schema
#   is deeper than five levels.
# Why it matters: such models are ordinary in shops, forms and infrastructure, and a limit that nobody set decides. "The server has no such tool" is not true,
#   and cannot be found out from the client's side; a hub that leaves a tool out has to say so where tools are listed.
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
from pydantic import BaseModel
class Item(BaseModel): article: str
class Box(BaseModel): items: list[Item]
class Delivery(BaseModel): boxes: list[Box]
class Order(BaseModel): deliveries: list[Delivery]
server = FastMCP("shop")
@server.tool
def place_order(order: Order) -> str: return "placed"
@server.tool
def cancel_order(number: int) -> str: return "cancelled"
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
known = call("discover_tools", {})["structuredContent"]["total_tools"]
placed, cancelled = (call("execute_tool", {"tool_name": name, "arguments": given}) for name, given in (("place_order", {"order": {"deliveries": []}}), ("cancel_order", {"number": 7})))
log = open("gateway.log").read()
print("expected: 2 tools; placed; cancelled")
print(f"seen:     {known} tools; {placed['content'][0]['text'][:60]}…; {cancelled['content'][0]['text']}")
print("seen:     log of the gateway:", next((line.split("detail=")[1] for line in log.splitlines() if "detail=" in line), "nothing"))
sys.exit(not (known == 1 and "Unknown tool 'place_order'" in placed["content"][0]["text"] and "cancelled" in cancelled["content"][0]["text"] and "exceeds cap of 5" in log))
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
