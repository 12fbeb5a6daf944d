#!/usr/bin/env bash
# What: a server asks its user a question during a call (elicitation, revision 2025-11-25), through a FastMCP proxy (fastmcp 4.2.3, mcp 2.3.0) in
#   front of it alone, and in front of it and a second server.
# Guess: the proxy passes the question on, or it does not; the number of servers has nothing to do with it.
# Seen: with two servers the client gets the question and the server its answer. With one server the client, which declared that it can answer,
#   hears nothing; the server gets the error "no back-channel" and goes on without its user.
# Why it matters: a tool that asks before it deletes works in one setup and not in a simpler one. The client and the hub before it cannot know,
#   because they see a call that succeeded.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 whose tool asks a question and returns what it got for it."""
import json, sys
QUESTION = {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}}}
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def hear(): return json.loads(sys.stdin.readline() or sys.exit())
while True:
    request = hear()
    method = request.get("method")
    if "id" not in request or method is None:
        continue
    if method == "tools/call":
        say({"id": "question", "method": "elicitation/create", "params": QUESTION})
        while (answer := hear()).get("id") != "question": pass
        say({"id": request["id"], "result": {"content": [{"type": "text", "text": "answered" if "result" in answer else answer["error"]["message"]}]}})
        continue
    result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
              "tools/list": {"tools": [{"name": "paint", "description": "Paint.", "inputSchema": {"type": "object", "properties": {}}}]}}.get(method)
    say({"id": request["id"], **({"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}})})
PY
cat >proxy.py <<'PY'
import sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": {name: {"command": sys.executable, "args": ["server.py"]} for name in sys.argv[1:]}}).run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys

def call(tool, *servers):
    """Whether the client was asked, and what the tool returned, twice."""
    proxy = subprocess.Popen([sys.executable, "proxy.py", *servers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("proxy.log", "a"), text=True)
    asked = []
    def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), file=proxy.stdin, flush=True)
    def ask(number, method, params):
        say({"id": number, "method": method, "params": params})
        while True:
            message = json.loads(proxy.stdout.readline())
            if message.get("method") == "elicitation/create":
                asked.append(number)
                say({"id": message["id"], "result": {"action": "accept", "content": {"colour": "red"}}})
            elif message.get("id") == number and "method" not in message:
                return message["result"]
    ask(100, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}, "clientInfo": {"name": "finding", "version": "1"}})
    say({"method": "notifications/initialized"})
    results = [ask(number, "tools/call", {"name": tool, "arguments": {}})["content"][0]["text"] for number in (101, 102)]
    proxy.stdin.close()
    proxy.wait(20)
    return len(asked), results

one, two = call("paint", "left"), call("left_paint", "left", "right")
print("expected: two questions each time, or none")
print("seen:     one server: ", *one)
print("          two servers:", *two)
sys.exit(not (one[0] == 0 and all("back-channel" in text for text in one[1]) and two == (2, ["answered", "answered"])))
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
