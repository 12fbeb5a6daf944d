#!/usr/bin/env bash
# What: a fastmcp 4.2.3 server (mcp 2.3.0) over HTTP keeps a value with `context.set_state`; the next call of the same client reads it.
# Guess: what a session keeps lasts as long as the client's session, whichever protocol revision the two agreed on.
# Seen: with 2025-11-25 the second call reads the value. With 2026-07-28 every call is a session of its own, with its own
#   `context.session_id`; the value is stored without an error and gone at the next call.
# Why it matters: the server offers both revisions, so the client's preference decides whether its tools work. A hub that prefers the newer
#   one turns "select a project, then ask about it" into answers about nothing, and no message says so.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${server:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
from fastmcp import Context, FastMCP
server = FastMCP("projects")

@server.tool
async def select(context: Context, project: str) -> str:
    await context.set_state("project", project)
    return "selected"

@server.tool
async def selected(context: Context) -> str:
    return str(await context.get_state("project"))

server.run("http", port=int(sys.argv[1]), show_banner=False)
PY
cat >ask.py <<'PY'
import json, sys, time, urllib.error, urllib.request
address = f"http://127.0.0.1:{sys.argv[1]}/mcp"

def post(message, headers):
    """The headers and the message of the answer, which comes as JSON or as an event."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps({"jsonrpc": "2.0", **message}).encode(), headers), timeout=20) as answer:
        body = answer.read().decode()
        events = [line[6:] for line in body.splitlines() if line.startswith("data: {")]
        return answer.headers, json.loads((events or [body])[-1] or "null")

def older():
    who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}
    headers, _ = post({"id": 1, "method": "initialize", "params": who}, {})
    session = {"mcp-session-id": headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    post({"method": "notifications/initialized"}, session)
    return lambda name, arguments: post({"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}, session)[1]

def newer():
    prefix = "io.modelcontextprotocol/"
    meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientInfo": {"name": "finding", "version": "1"}, prefix + "clientCapabilities": {}}
    def call(name, arguments):
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
        return post({"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": meta}}, headers)[1]
    return call

def text(answer): return answer["result"]["content"][0]["text"]

for _ in range(100):
    try:
        urllib.request.urlopen(address, timeout=5)
    except urllib.error.HTTPError:
        break
    except OSError:
        time.sleep(0.2)
seen = {}
for revision, call in (("2025-11-25", older()), ("2026-07-28", newer())):
    seen[revision] = (text(call("select", {"project": "garden"})), text(call("selected", {})))
print("expected: selected, then garden")
for revision, answers in seen.items():
    print(f"seen:     {revision}: {answers[0]}, then {answers[1]}")
sys.exit(seen != {"2025-11-25": ("selected", "garden"), "2026-07-28": ("selected", "None")})
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
venv/bin/python server.py "$port" >server.log 2>&1 &
server=$!
timeout 100 python3 ask.py "$port" 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
