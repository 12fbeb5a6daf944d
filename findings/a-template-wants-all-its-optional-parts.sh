#!/usr/bin/env bash
# What: the template `note://search{?text,language}` is registered in servers of @modelcontextprotocol/server 2.4.0, mcp 2.3.0 and fastmcp 4.2.3, and
#   addresses that follow from it are read.
# Guess: what stands behind `?` in a template may be left out, and comes in any order, as in every address.
# Seen: that holds for the two in Python. The one in TypeScript finds the resource only if all parts are there, in the written order, and nothing
#   else; otherwise "Resource not found".
# Why it matters: a model that fills a template with what it knows gets "not found" for a search that exists. A hub that fills templates or compares
#   addresses for its clients has to keep order and number as they are written, since the server cannot be asked which kind it is.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 zod@4.6.7; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.mjs <<'JS'
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
const server = new McpServer({ name: "notes", version: "1" });
const template = new ResourceTemplate("note://search{?text,language}", { list: undefined });
server.registerResource("search", template, {}, async (address, parts) => ({ contents: [{ uri: address.href, text: `${parts.text} ${parts.language}` }] }));
await server.connect(new StdioServerTransport());
JS
cat >server.py <<'PY'
import sys
if sys.argv[1] == "mcp": from mcp.server.mcpserver import MCPServer as Server
else: from fastmcp import FastMCP as Server
server = Server("notes")
@server.resource("note://search{?text,language}")
def search(text: str = "any", language: str = "any") -> str: return f"{text} {language}"
server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
ADDRESSES = ["note://search?text=rain&language=en", "note://search?language=en&text=rain", "note://search?text=rain", "note://search"]
seen = {}
for name, command in (("server", ["node", "server.mjs"]), ("mcp", ["venv/bin/python", "server.py", "mcp"]), ("fastmcp", ["venv/bin/python", "server.py", "fastmcp"])):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def ask(number, method, params):
        send(id=number, method=method, params=params)
        while (message := json.loads(server.stdout.readline())).get("id") != number: pass
        return message
    ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    send(method="notifications/initialized")
    answers = [ask(number, "resources/read", {"uri": address}) for number, address in enumerate(ADDRESSES, 1)]
    server.stdin.close()
    server.wait(20)
    seen[name] = [answer["result"]["contents"][0]["text"] if "result" in answer else "not found" for answer in answers]
print("read:     ", ADDRESSES)
print("expected: rain and en; rain and en; rain alone; all")
for name, texts in seen.items(): print(f"seen:     {name}: {texts}")
python = ["rain en", "rain en", "rain any", "any any"]
sys.exit(seen != {"server": ["rain en", "not found", "not found", "not found"], "mcp": python, "fastmcp": python})
PY
echo "version:  @modelcontextprotocol/server 2.4.0, mcp 2.3.0, fastmcp 4.2.3"
timeout 100 python3 ask.py 2>ask.log || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
