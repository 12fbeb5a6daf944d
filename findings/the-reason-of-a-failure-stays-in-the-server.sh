#!/usr/bin/env bash
# What: a tool raises `ValueError("account 17 is locked")`; the server is written with mcp 1.30.0, mcp 2.3.0, fastmcp 4.2.3 or, throwing an Error,
#   @modelcontextprotocol/server 2.4.0.
# Guess: the text of the exception is the text of the tool error, as it always was, so that the model can react to it.
# Seen: so it is with mcp 1, fastmcp and the TypeScript library. With mcp 2 the client reads "Error executing tool pay" and no
#   reason. Only the error class made for it (`ToolError`) passes its text on.
# Why it matters: an update of one dependency takes the reasons out of every tool error. The model repeats the same call, and the person has
#   to look into the server's own output, which a hub keeps and can name.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv one && one/bin/pip install -q --disable-pip-version-check mcp==1.30.0 &&
  python3 -m venv two && two/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 zod@4.6.7; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
if sys.argv[1] == "fastmcp":
    from fastmcp import FastMCP as Server
elif sys.argv[1] == "mcp 2":
    from mcp.server.mcpserver import MCPServer as Server
else:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("bank")

@server.tool()
def pay() -> str:
    raise ValueError("account 17 is locked")

server.run()
PY
cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
const server = new McpServer({ name: "bank", version: "1" });
server.registerTool("pay", { description: "Pay.", inputSchema: z.object({}) }, async () => { throw new Error("account 17 is locked"); });
await server.connect(new StdioServerTransport());
JS
cat >ask.py <<'PY'
import json, subprocess, sys
SERVERS = {"mcp 1.30.0": ["one/bin/python", "server.py", "mcp 1"], "mcp 2.3.0": ["two/bin/python", "server.py", "mcp 2"],
           "fastmcp 4.2.3": ["two/bin/python", "server.py", "fastmcp"], "server 2.4.0": ["node", "server.mjs"]}

def said(command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=process.stdin, flush=True)
    def answer(number):
        while (message := json.loads(process.stdout.readline())).get("id") != number: pass
        return message["result"]
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    answer(1)
    send(method="notifications/initialized")
    send(id=2, method="tools/call", params={"name": "pay", "arguments": {}})
    result = answer(2)
    process.kill()
    assert result["isError"]
    return result["content"][0]["text"]

seen = {name: said(command) for name, command in SERVERS.items()}
print("expected: a text with the reason")
for name, text in seen.items():
    print(f"seen:     {name}: {text}")
sys.exit([name for name, text in seen.items() if "account 17 is locked" not in text] != ["mcp 2.3.0"])
PY
echo "version:  mcp 1.30.0, mcp 2.3.0, fastmcp 4.2.3, @modelcontextprotocol/server 2.4.0"
timeout 120 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
