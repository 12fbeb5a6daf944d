#!/usr/bin/env bash
# What: a fastmcp 4.2.3 server (mcp 2.3.0) adds a tool and switches one off while a client is connected (revision 2025-11-25).
# Guess: the server declares `tools.listChanged: true`, so it announces both.
# Seen: neither is announced; `tools/list` shows the new tool and no longer the other. Only a change made for one session (through the
#   context of a call) is announced, and then for tools, resources and prompts together.
# Why it matters: a hub that keeps a list because changes are declared keeps a wrong one. The declaration is no promise; a list has to be
#   read again now and then, and a call of an unknown name is a reason to do so.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from fastmcp import Context, FastMCP
server = FastMCP("garden")

@server.tool
def apple() -> str:
    return "apple"

@server.tool
def change() -> str:
    def pear() -> str:
        return "pear"
    server.tool(pear)
    server.disable(names={"apple"})
    return "changed"

@server.tool
async def change_session(context: Context) -> str:
    await context.disable_components(names={"pear"})
    return "changed for this session"

server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys
server = subprocess.Popen([sys.executable, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
announced, number = [], 0

def ask(method, params):
    """One request; what the server announces before the answer is kept."""
    global number
    number += 1
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
    while (message := json.loads(server.stdout.readline())).get("id") != number:
        announced.append(message["method"].removeprefix("notifications/"))
    return message["result"]

def tools(): return sorted(tool["name"] for tool in ask("tools/list", {})["tools"])

def call(name):
    """What is announced by a call and two requests after it, and the tools then."""
    announced.clear()
    ask("tools/call", {"name": name, "arguments": {}})
    ask("ping", {})
    listed = tools()
    return sorted(announced), listed

declared = ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})["capabilities"]["tools"]["listChanged"]
print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
before, server_wide, session = tools(), call("change"), call("change_session")
server.stdin.close()
server.wait(20)
print("expected: tools/list_changed after each change")
print(f"seen:     declared {declared}; before {before}\n          for the server: announced {server_wide[0]}, now {server_wide[1]}\n          for the session: announced {session[0]}, now {session[1]}")
sys.exit(not (declared and before == ["apple", "change", "change_session"] and server_wide == ([], ["change", "change_session", "pear"])
              and "tools/list_changed" in session[0] and session[1] == ["change", "change_session"]))
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
