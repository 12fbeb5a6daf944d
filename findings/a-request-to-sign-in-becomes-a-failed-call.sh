#!/usr/bin/env bash
# What: a tool answers that the person has to sign in first: the error -32042 of the protocol, with the address of the page in it. Before the server
#   stands a proxy: of fastmcp 4.2.3, mcp-proxy 0.13.0 (PyPI) or mcp-proxy 6.7.19 (npm).
# Guess: a proxy passes an error on as it is, with its code and its data.
# Seen: the one from npm does. The two in Python make a result of it that says "needs a sign-in" and is marked as an error: code and address are gone.
# Why it matters: a client that could open the page shows the model a failed call instead, and the model tries again or gives up. Behind such a proxy
#   a hub cannot offer the page either; there, the server has to be added itself.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${proxy:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv fastmcp && fastmcp/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 &&
  python3 -m venv pypi && pypi/bin/pip install -q --disable-pip-version-check mcp-proxy==0.13.0 &&
  npm install --prefix "$work/npm" --no-audit --no-fund --loglevel error mcp-proxy@6.7.19; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 whose only tool wants the person to sign in first."""
import json, sys
PAGE = {"mode": "url", "elicitationId": "1", "url": "https://example.com/sign-in", "message": "Sign in to your account"}
ANSWERS = {"initialize": {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "mail", "version": "1"}}},
           "tools/list": {"result": {"tools": [{"name": "send", "inputSchema": {"type": "object", "properties": {}}}]}},
           "tools/call": {"error": {"code": -32042, "message": "needs a sign-in", "data": {"elicitations": [PAGE]}}}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = ANSWERS.get(request["method"], {"error": {"code": -32601, "message": "unknown method"}})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
PY
cat >fastproxy.py <<'PY'
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport("python3", ["server.py"]), name="proxy").run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
PY
cat >ask.py <<'PY'
"""Calls the tool at an address over HTTP and says what came back."""
import json, sys, time, urllib.error, urllib.request
address, session = sys.argv[1], {}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def post(body):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
    with opener.open(urllib.request.Request(address, json.dumps({"jsonrpc": "2.0", **body}).encode(), headers), timeout=20) as answer:
        if answer.headers["Mcp-Session-Id"]: session.update({"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        for line in answer.read().decode().splitlines():
            text = line.removeprefix("data:").strip()
            if text.startswith("{") and (message := json.loads(text)).get("id") == body.get("id"): return message
able = {"elicitation": {"form": {}, "url": {}}}
for attempt in range(60):
    try:
        post({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": {"name": "finding", "version": "1"}}})
        break
    except urllib.error.URLError:
        time.sleep(0.5)
post({"method": "notifications/initialized"})
answer = post({"id": 2, "method": "tools/call", "params": {"name": "send", "arguments": {}}})
kind = f"error {answer['error']['code']}" if "error" in answer else f"result, isError {answer['result'].get('isError')}"
print(f"{kind}, {'with' if 'example.com' in json.dumps(answer) else 'without'} the address")
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
try() { # name, command with PORT
  port=$(free)
  "${@//PORT/$port}" >proxy.log 2>&1 &
  proxy=$!
  timeout 45 python3 ask.py "http://127.0.0.1:$port/mcp" 2>ask.log
  kill "$proxy"
  wait "$proxy" 2>/dev/null
  proxy=
}
fast=$(try fastmcp/bin/python fastproxy.py PORT)
pypi=$(try pypi/bin/mcp-proxy --port PORT -- python3 server.py)
npm=$(try npm/node_modules/.bin/mcp-proxy --host 127.0.0.1 --port PORT -- python3 server.py)
echo "version:  fastmcp 4.2.3, mcp-proxy 0.13.0 (PyPI), mcp-proxy 6.7.19 (npm)"
echo "expected: error -32042, with the address, from all"
echo "seen:     fastmcp: $fast"
echo "seen:     mcp-proxy (PyPI): $pypi"
echo "seen:     mcp-proxy (npm): $npm"
[ "$fast" = "result, isError True, without the address" ] && [ "$pypi" = "$fast" ] && [ "$npm" = "error -32042, with the address" ] || { tail -n 3 proxy.log ask.log; echo "changed"; exit 1; }
