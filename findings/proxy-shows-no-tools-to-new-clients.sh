#!/usr/bin/env bash
# What: a FastMCP proxy (fastmcp 4.2.3, mcp 2.3.0) in front of a server that speaks revision 2025-11-25 only.
# Guess: a proxy speaks to its server in the server's revision, so every client sees the same tools.
# Seen: the proxy repeats the client's revision towards the server. A client of 2026-07-28 gets a valid, empty list of tools and no
#   error; a client that begins with `initialize` gets the tool. The server answered `tools/list` both times.
# Why it matters: a hub that prefers the newest revision shows the proxy as healthy with no tools. An empty list in one family of
#   revisions proves nothing until the other family has been asked.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool, on standard input and output."""
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}},
    "tools/list": {"tools": [{"name": "apple", "description": "Count apples.", "inputSchema": {"type": "object"}}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = ANSWERS.get(request["method"])
        body = {"result": answer} if answer else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >proxy.py <<'PY'
import sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": {"old": {"command": sys.executable, "args": ["server.py"]}}}).run(show_banner=False)
PY
cat >ask.py <<'PY'
import asyncio, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def names(mode):
    async with Client(StdioTransport(sys.executable, ["proxy.py"], log_file=open("proxy.log", "a")), mode=mode) as client:
        return [tool.name for tool in await client.list_tools()]

async def main():
    seen = {"2026-07-28": await names("auto"), "2025-11-25": await names("legacy")}
    print("expected: the same tool for clients of both revisions")
    print("seen:    ", seen)
    sys.exit(seen != {"2026-07-28": [], "2025-11-25": ["apple"]})

asyncio.run(main())
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
