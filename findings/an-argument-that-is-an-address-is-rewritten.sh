#!/usr/bin/env bash
# What: autogen-ext 0.7.5 (with mcp 1.30.0) calls a tool whose argument is declared as `"format": "uri"`. (crewai-tools 1.15.30 does the same.)
# Guess: `format` is a hint for checking; the text arrives as the model wrote it.
# Seen: the text is parsed and written anew. `https://Example.com` arrives as `https://example.com/`. The same text in an argument without
#   the format arrives unchanged.
# Why it matters: a server that compares addresses, signs them or uses them as keys misses. What arrives is not what the model sent, and a
#   record of the hub shows an argument that no model wrote.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'autogen-ext[mcp]==0.7.5' mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool that returns its arguments."""
import json, sys
SCHEMA = {"type": "object", "required": ["page", "text"], "properties": {"page": {"type": "string", "format": "uri"}, "text": {"type": "string"}}}
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list": return {"tools": [{"name": "bookmark", "description": "Keep a page.", "inputSchema": SCHEMA}]}
    return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params"))}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, json, sys
from autogen_core import CancellationToken
from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools

async def main():
    tools = await mcp_server_tools(StdioServerParams(command=sys.executable, args=["server.py"]))
    sent = {"page": "https://Example.com", "text": "https://Example.com"}
    result = await tools[0].run_json(sent, CancellationToken())
    seen = json.loads(result[0].text)
    print("expected:", json.dumps(sent))
    print("seen:    ", json.dumps(seen))
    sys.exit(seen != {"page": "https://example.com/", "text": "https://Example.com"})

asyncio.run(main())
PY
echo "version:  autogen-ext 0.7.5, mcp 1.30.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
