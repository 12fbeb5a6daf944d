#!/usr/bin/env bash
# What: the client of mcp 2.3.0 calls tools whose names the program knows already, so it reads no list. The server's list has two pages.
# Guess: a call is one request; results of tools whose schema the client does not know are not checked.
# Seen: after the first call the client reads the list itself, the first page only. A tool on it is checked from then on (the call raises
#   after the tool has run). A tool on the second page costs one more `tools/list` after every call, and is never checked.
# Why it matters: frameworks that open a session for each call (langchain-mcp-adapters 0.3.2 does) add a whole list to each. Lists in a hub's
#   records do not mean that a person looked, and a list that fits one page saves half of the requests.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with a list of two pages; results do not fit their schema. Writes down what it is asked for."""
import json, sys
def page(name): return [{"name": name, "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["n"]}}]
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list": return {"tools": page("second")} if params.get("cursor") else {"tools": page("first"), "nextCursor": "2"}
    if method == "tools/call": return {"content": [], "structuredContent": {}}
for line in sys.stdin:
    request = json.loads(line)
    params = request.get("params") or {}
    print(request["method"], params.get("name") or params.get("cursor") or "", file=open("asked.txt", "a"))
    if "id" in request:
        result = answer(request["method"], params)
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    outcomes = []
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for name in ("first", "first", "second", "second"):
            try:
                await session.call_tool(name, {})
                outcomes.append("accepted")
            except RuntimeError:
                outcomes.append("refused")
    asked = [line.strip() for line in open("asked.txt")]
    asked = asked[asked.index("notifications/initialized") + 1:]
    print("expected: four calls and no list; nothing is checked")
    print("seen:    ", ", ".join(asked), "|", outcomes)
    stated = ["tools/call first", "tools/list", "tools/call first", "tools/call second", "tools/list", "tools/call second", "tools/list"]
    sys.exit(asked != stated or outcomes != ["refused", "refused", "accepted", "accepted"])

asyncio.run(main())
PY
echo "version:  mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
