#!/usr/bin/env bash
# What: a client asks for log messages from "warning" on; a tool of the server writes one of "info" and one of "error" while it runs. Before the server
#   stands a proxy: of fastmcp 4.2.3, mcp-proxy 0.13.0 (PyPI) or mcp-proxy 6.7.19 (npm).
# Guess: all three declare `logging` and accept the level, so the error arrives; the server is told the level.
# Seen: with the one from npm the error arrives; it keeps the level for itself and sorts the messages. The two in Python answer the level too, and no
#   message arrives at all; the one from PyPI tells the server the level, fastmcp does not.
# Why it matters: "the server logs nothing" and "the proxy drops it" look alike, because all that can be asked says yes. A hub that shows logs can
#   trust what arrives, and never that nothing happened.
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
"""An MCP server of 2025-11-25 whose only tool writes two log messages; writes down the level it is told in the file that it is given."""
import json, sys, time
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
ANSWERS = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "mail", "version": "1"}},
           "tools/list": {"tools": [{"name": "send", "inputSchema": {"type": "object", "properties": {}}}]},
           "tools/call": {"content": [{"type": "text", "text": "sent"}]}, "logging/setLevel": {}}
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "logging/setLevel": print("told", file=open(sys.argv[1], "w"))
    if request["method"] == "tools/call":
        for level in ("info", "error"): say({"method": "notifications/message", "params": {"level": level, "logger": "mail", "data": f"one of {level}"}})
        time.sleep(1)
    if "id" in request:
        answer = {"result": ANSWERS[request["method"]]} if request["method"] in ANSWERS else {"error": {"code": -32601, "message": "unknown method"}}
        say({"id": request["id"], **answer})
PY
cat >fastproxy.py <<'PY'
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport("python3", ["server.py", "fastmcp.told"]), name="proxy").run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
PY
cat >ask.py <<'PY'
"""Sets the level, listens, calls the tool at an address over HTTP, and says which log messages came."""
import json, sys, threading, time, urllib.error, urllib.request
address, session, came = sys.argv[1], {}, []
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def read(answer, number=None):
    for line in answer:
        text = line.decode().removeprefix("data:").strip()
        if not text.startswith("{"): continue
        message = json.loads(text)
        if message.get("method") == "notifications/message": came.append(message["params"]["level"])
        if number is not None and message.get("id") == number: return message
def ask(number, method, params):
    body = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": number} if number else {})}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
    with opener.open(urllib.request.Request(address, json.dumps(body).encode(), headers), timeout=20) as answer:
        if answer.headers["Mcp-Session-Id"]: session.update({"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        return read(answer, number)
def listen(): read(opener.open(urllib.request.Request(address, headers={"Accept": "text/event-stream", **session})))
for attempt in range(60):
    try:
        hello = ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
        break
    except urllib.error.URLError:
        time.sleep(0.5)
ask(None, "notifications/initialized", {})
threading.Thread(target=listen, daemon=True).start()
time.sleep(1)
level = ask(2, "logging/setLevel", {"level": "warning"})
ask(3, "tools/call", {"name": "send", "arguments": {}})
time.sleep(1)
print(f"declares logging {'logging' in hello['result']['capabilities']}, takes the level {'result' in level}, messages {came}")
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
pypi=$(try pypi/bin/mcp-proxy --port PORT -- python3 server.py pypi.told)
npm=$(try npm/node_modules/.bin/mcp-proxy --host 127.0.0.1 --port PORT -- python3 server.py npm.told)
told=$(for name in fastmcp pypi npm; do [ -e "$name.told" ] && echo "$name"; done)
echo "version:  fastmcp 4.2.3, mcp-proxy 0.13.0 (PyPI), mcp-proxy 6.7.19 (npm)"
echo "expected: declares logging True, takes the level True, messages ['error'] from all; told the level: all three servers"
echo "seen:     fastmcp: $fast"
echo "seen:     mcp-proxy (PyPI): $pypi"
echo "seen:     mcp-proxy (npm): $npm"
echo "seen:     told the level: the server behind" $told
yes="declares logging True, takes the level True, messages"
[ "$fast" = "$yes []" ] && [ "$pypi" = "$yes []" ] && [ "$npm" = "$yes ['error']" ] && [ "$told" = pypi ] || { tail -n 3 proxy.log ask.log; echo "changed"; exit 1; }
