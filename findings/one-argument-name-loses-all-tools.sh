#!/usr/bin/env bash
# What: llama-index-tools-mcp 0.6.0 reads a list of two tools. One has an argument called `model_config`.
# Guess: an argument may have any name; the client passes it through.
# Seen: the client makes a class with one field for each argument, and that name has a meaning of its own there: TypeError, and the
#   agent gets none of the tools. (A name that begins with `_` does the same; crewai-tools 1.15.30 and autogen-ext 0.7.5 build classes too.)
# Why it matters: a tool about models of machine learning is enough to take every other tool of the hub from such a client.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check llama-index-tools-mcp==0.6.0 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with two tools; the first argument is the name of the second tool's argument."""
import json, sys
def schema(name): return {"type": "object", "properties": {name: {"type": "string"}}}
TOOLS = [{"name": "count", "description": "Count.", "inputSchema": schema("what")}, {"name": "train", "description": "Train.", "inputSchema": schema(sys.argv[1])}]
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
                  "tools/list": {"tools": TOOLS}}.get(request["method"])
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, sys
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

async def names(argument):
    try:
        tools = await McpToolSpec(BasicMCPClient(sys.executable, args=["server.py", argument])).to_tool_list_async()
        return [tool.metadata.name for tool in tools]
    except Exception as error:
        return type(error).__name__

seen = {argument: asyncio.run(names(argument)) for argument in ("configuration", "model_config", "_since")}
print("expected: two tools each time")
print("seen:    ", seen)
sys.exit(seen["configuration"] != ["count", "train"] or seen["model_config"] != "TypeError" or isinstance(seen["_since"], list))
PY
echo "version:  llama-index-tools-mcp 0.6.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
