#!/usr/bin/env bash
# What: a tool written with mcp 2.3.0 takes `content: str | dict` and gets a text that happens to be JSON, as a tool that saves files does.
# Guess: the argument is a JSON string and the schema allows a string, so the tool gets the text.
# Seen: the tool gets a dict: the library parses texts that look like JSON wherever the parameter is not plainly a text. With
#   `content: str` it gets the text. mcp 1.30.0 does the same; fastmcp 4.2.3 does not.
# Why it matters: a text sent is not the text saved (spaces, key order, numbers), and no place in the protocol shows it. A hub that puts
#   arguments into texts, or takes them out, changes what the tool does.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for package in mcp==2.3.0 fastmcp==4.2.3; do
  { python3 -m venv "$package" && "$package/bin/pip" install -q --disable-pip-version-check "$package" mcp==2.3.0; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done

cat >server.py <<'PY'
try:
    from fastmcp import FastMCP as Server
except ImportError:
    from mcp.server.mcpserver import MCPServer as Server
server = Server("files")

@server.tool()
def save(content: str | dict) -> str:
    return repr(content)

@server.tool()
def save_text(content: str) -> str:
    return repr(content)

server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
TEXT = '{"b": 1.0,  "a": 1}'

def results(python):
    server = subprocess.Popen([python, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def ask(number, method, params):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())["result"]
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
    got = [ask(number, "tools/call", {"name": name, "arguments": {"content": TEXT}})["content"][0]["text"] for number, name in enumerate(["save", "save_text"], 2)]
    server.stdin.close()
    server.wait(20)
    return got

seen = {package: results(f"{package}/bin/python") for package in ("mcp==2.3.0", "fastmcp==4.2.3")}
print("expected:", repr(TEXT), "each time")
for package, got in seen.items():
    print(f"seen:     {package}: str | dict gets {got[0]}, str gets {got[1]}")
sys.exit(seen != {"mcp==2.3.0": ["{'b': 1.0, 'a': 1}", repr(TEXT)], "fastmcp==4.2.3": [repr(TEXT), repr(TEXT)]})
PY
echo "version:  mcp 2.3.0, fastmcp 4.2.3"
timeout 120 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
