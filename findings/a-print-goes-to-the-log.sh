#!/usr/bin/env bash
# What: a tool prints a line and starts a program that prints another; the server speaks over standard output, written with mcp 1.30.0 and with mcp 2.3.0.
# Guess: both lines stand between the messages, where they break strict clients; every guide says not to print.
# Seen: so it is with mcp 1. With mcp 2 both lines arrive on standard error, that of the started program too, and between the messages is nothing
#   but messages: the library keeps the real output to itself and puts standard error in its place.
# Why it matters: an update mends calls that strict clients lost, and what they print is to be read as their log, not as an error. A server
#   that goes back to mcp 1 for another reason breaks again.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv one && one/bin/pip install -q --disable-pip-version-check mcp==1.30.0 &&
  python3 -m venv two && two/bin/pip install -q --disable-pip-version-check mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import subprocess
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("garden")

@server.tool()
def water() -> str:
    print("printed", flush=True)
    subprocess.run(["echo", "printed by a program"])
    return "watered"

server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys

def play(python):
    """Lines between the messages, and lines on standard error that the tool caused."""
    log = open("server.log", "w+")
    server = subprocess.Popen([python, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    others = []
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def answer(number):
        for line in server.stdout:
            if not line.startswith("{"): others.append(line.strip())
            elif json.loads(line).get("id") == number: return
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    answer(1)
    send(method="notifications/initialized")
    send(id=2, method="tools/call", params={"name": "water", "arguments": {}})
    answer(2)
    server.kill()
    server.wait()
    log.seek(0)
    return others, [line.strip() for line in log if line.startswith("printed")]

lines = ["printed", "printed by a program"]
seen = {"mcp 1.30.0": play("one/bin/python"), "mcp 2.3.0": play("two/bin/python")}
print("expected: both lines between the messages")
for version, (output, error) in seen.items():
    print(f"seen:     {version}: between the messages: {output}; on standard error: {error}")
sys.exit(seen != {"mcp 1.30.0": (lines, []), "mcp 2.3.0": ([], lines)})
PY
echo "version:  mcp 1.30.0, mcp 2.3.0"
timeout 100 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
