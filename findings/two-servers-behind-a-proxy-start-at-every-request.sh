#!/usr/bin/env bash
# What: a FastMCP proxy (fastmcp 4.2.3, mcp 2.3.0) in front of one, then of two stdio servers; one client, one connection, two calls.
# Guess: the proxy starts each server once and keeps it; how many servers it has makes no difference.
# Seen: one server is started once. Two servers are both started again for every request: two lists and two calls of one of them start
#   each of the two more than three times, also the one that was not called.
# Why it matters: behind such a proxy a server keeps no state from one call to the next (no open page, no login), and each call costs the
#   start of all of them. To a hub it looks like one slow, forgetful server.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool; adds a line to the file in its argument when it is started."""
import json, sys
print("started", file=open(sys.argv[1], "a"))
def answer(method):
    return {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
            "tools/list": {"tools": [{"name": "count", "description": "Count.", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "1"}]}}.get(method)
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"])
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >proxy.py <<'PY'
import sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": {n: {"command": sys.executable, "args": ["server.py", n]} for n in sys.argv[1:]}}).run(show_banner=False)
PY
cat >ask.py <<'PY'
import asyncio, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def starts(tool, *names):
    async with Client(StdioTransport(sys.executable, ["proxy.py", *names], log_file=open("proxy.log", "a")), mode="legacy") as client:
        for _ in range(2):
            await client.list_tools()
            await client.call_tool(tool, {})
    return [len(open(name).readlines()) for name in names]

async def main():
    one, (called, idle) = await starts("count", "alone"), await starts("left_count", "left", "right")
    print("expected: one start of each server")
    print(f"seen:     alone {one[0]}; of two: the called one {called}, the other {idle}")
    sys.exit(not (one == [1] and called > 3 and idle > 3))

asyncio.run(main())
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
