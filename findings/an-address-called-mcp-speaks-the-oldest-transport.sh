#!/usr/bin/env bash
# What: mcp-hub 4.2.1 (npm) says to connect clients to its address `/mcp`; a client of Streamable HTTP does so.
# Guess: `/mcp` is Streamable HTTP, as at every other server; the older transport would be at `/sse`.
# Seen: a POST is answered with 404 and an HTML page. A GET opens the transport of 2024-11-05, whose messages go to `/messages`, an absolute path that
#   leaves whatever stands before `/mcp`.
# Why it matters: neither the path nor the status says which transport it is: the specification names 405 and 404 alike for "try the older one". A
#   hub has to try it after a 404, too, and must not take the page for the server's error.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${hub:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error mcp-hub@4.2.1 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir home
echo '{"mcpServers": {}}' >config.json
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
env HOME="$work/home" XDG_CONFIG_HOME="$work/home" XDG_STATE_HOME="$work/home" timeout 90 node_modules/.bin/mcp-hub --port "$port" --config config.json >hub.log 2>&1 </dev/null &
hub=$!
cat >ask.py <<'PY'
import json, sys, time, urllib.error, urllib.request
address = f"http://127.0.0.1:{sys.argv[1]}/mcp"
hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}}
headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
def stream():
    """What the server says first on a GET, once it is ready."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers={"accept": "text/event-stream"}), timeout=10) as events:
                return events.readline().decode().strip(), events.readline().decode().strip()
        except OSError:
            time.sleep(0.3)

event, data = stream()
try:
    posted = urllib.request.urlopen(urllib.request.Request(address, json.dumps(hello).encode(), headers), timeout=10).status, ""
except urllib.error.HTTPError as error:
    posted = error.code, error.headers["content-type"].split(";")[0]
print("expected: POST 200 with the server's answer")
print(f"seen:     POST {posted[0]} {posted[1]}; GET: {event}, {data[:24]}…")
sys.exit(not (posted == (404, "text/html") and event == "event: endpoint" and data.startswith("data: /messages?")))
PY
echo "version:  mcp-hub 4.2.1"
timeout 60 python3 ask.py "$port" 2>ask.log || { tail -n 3 ask.log hub.log; echo "changed"; exit 1; }
