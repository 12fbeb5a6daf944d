#!/usr/bin/env bash
# What: a tool `find(query, limit = 10)` called with `{"query": "q", "limti": 3}`; servers written with mcp 2.3.0, @modelcontextprotocol/server
#   2.4.0 and fastmcp 4.2.3.
# Guess: every library refuses a name it does not know: each validates the arguments before the tool runs.
# Seen: mcp and the TypeScript library drop it and run the tool with limit 10, as a success. Their published schemas do not say
#   `additionalProperties: false`, so no client can refuse it by the schema either. fastmcp publishes that and refuses.
# Why it matters: a model that misspells an optional argument is told that its call worked. Only what stands between them and compares the names
#   with the declared ones can tell it.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 zod@4.6.7; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
if sys.argv[1] == "fastmcp":
    from fastmcp import FastMCP as Server
else:
    from mcp.server.mcpserver import MCPServer as Server
server = Server("search")

@server.tool()
def find(query: str, limit: int = 10) -> str:
    return f"{limit} of {query}"

server.run()
PY
cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
const server = new McpServer({ name: "search", version: "1" });
const inputSchema = z.object({ query: z.string(), limit: z.number().default(10) });
server.registerTool("find", { description: "Find.", inputSchema }, async ({ query, limit }) => ({ content: [{ type: "text", text: `${limit} of ${query}` }] }));
await server.connect(new StdioServerTransport());
JS
cat >ask.py <<'PY'
import json, subprocess, sys
SERVERS = {"mcp": [sys.executable, "server.py", "mcp"], "server": ["node", "server.mjs"], "fastmcp": [sys.executable, "server.py", "fastmcp"]}

def play(command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=process.stdin, flush=True)
    def ask(number, method, params):
        send(id=number, method=method, params=params)
        while (message := json.loads(process.stdout.readline())).get("id") != number: pass
        return message["result"]
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    send(method="notifications/initialized")
    schema = ask(2, "tools/list", {})["tools"][0]["inputSchema"]
    result = ask(3, "tools/call", {"name": "find", "arguments": {"query": "q", "limti": 3}})
    process.kill()
    return schema.get("additionalProperties", "not said"), "error" if result.get("isError") else result["content"][0]["text"]

seen = {name: play(command) for name, command in SERVERS.items()}
print("expected: an error that names limti")
for name, (others, answer) in seen.items():
    print(f"seen:     {name}: other names allowed: {others}; answer: {answer}")
sys.exit(seen != {"mcp": ("not said", "10 of q"), "server": ("not said", "10 of q"), "fastmcp": (False, "error")})
PY
echo "version:  mcp 2.3.0, @modelcontextprotocol/server 2.4.0, fastmcp 4.2.3"
timeout 120 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
