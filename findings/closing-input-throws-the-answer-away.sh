#!/usr/bin/env bash
# What: standard input is closed 0.5 s after a call of a tool that takes 2 s, on servers of mcp 1.30.0, mcp 2.3.0 and
#   @modelcontextprotocol/server 2.4.0.
# Guess: no more requests come, so the server finishes what runs, answers and exits; or it stops the tool.
# Seen: all three run the tool to its end. mcp 1.30.0 answers. The two newer libraries throw the answer away and exit with 0.
# Why it matters: closing standard input is how a server is asked to stop. A hub (or a script that pipes requests into a server) that does so
#   while a call runs loses the answer of work that was done, with an exit code that says all is well.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for version in 1.30.0 2.3.0; do
  { python3 -m venv "$version" && "$version/bin/pip" install -q --disable-pip-version-check "mcp==$version"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import time
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("slow")

@server.tool()
def slow(file: str) -> str:
    time.sleep(2)
    open(file, "w").close()
    return "done"

server.run()
PY
cat >server.mjs <<'JS'
import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { writeFileSync } from 'node:fs'
const server = new McpServer({ name: 'slow', version: '1' })
const inputSchema = fromJsonSchema({ type: 'object', properties: { file: { type: 'string' } } })
server.registerTool('slow', { description: 'Slow.', inputSchema }, async ({ file }) => {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  writeFileSync(file, '')
  return { content: [{ type: 'text', text: 'done' }] }
})
await server.connect(new StdioServerTransport())
JS
cat >ask.py <<'PY'
import json, os, subprocess, sys, time

def close_early(name, *command):
    """Whether the tool ran to its end and whether its answer came, and the exit code."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    send({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}})
    server.stdout.readline()
    send({"method": "notifications/initialized"})
    send({"id": 2, "method": "tools/call", "params": {"name": "slow", "arguments": {"file": name}}})
    time.sleep(0.5)
    server.stdin.close()
    answered = any(json.loads(line).get("id") == 2 for line in server.stdout)
    return {"ran": os.path.exists(name), "answered": answered, "exit": server.wait(20)}

seen = {"mcp 1.30.0": close_early("one", "1.30.0/bin/python", "server.py"), "mcp 2.3.0": close_early("two", "2.3.0/bin/python", "server.py"),
        "server 2.4.0": close_early("three", "node", "server.mjs")}
print("expected: the answer, or a tool that was stopped")
for name, end in seen.items():
    print("seen:    ", name, end)
sys.exit(seen != {name: {"ran": True, "answered": name == "mcp 1.30.0", "exit": 0} for name in seen})
PY
echo "version:  mcp 1.30.0, mcp 2.3.0, @modelcontextprotocol/server 2.4.0"
timeout 150 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
