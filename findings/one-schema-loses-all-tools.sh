#!/usr/bin/env bash
# What: smolagents 1.26.0 (mcpadapt 0.1.19, mcp 1.30.0) connects to a server with two tools. One takes no arguments and says so by
#   `{"type": "object"}`, which is the shortest valid schema.
# Guess: the tool is offered without parameters; at worst it alone is left out.
# Seen: connecting raises KeyError('properties'). The agent gets none of the tools. With `"properties": {}` added it gets both.
# Why it matters: a hub lists tools of many servers in one list; the plainest tool of one server takes all others from this client.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'smolagents[mcp]==1.26.0' mcpadapt==0.1.19 mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with two tools; the first argument is the schema of the second tool."""
import json, sys
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [{"name": "count", "description": "Count.", "inputSchema": NUMBER}, {"name": "now", "description": "The time.", "inputSchema": json.loads(sys.argv[1])}]
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
                  "tools/list": {"tools": TOOLS}}[request["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
cat >ask.py <<'PY'
import sys
from mcp import StdioServerParameters
from smolagents import MCPClient

def names(schema):
    try:
        with MCPClient(StdioServerParameters(command=sys.executable, args=["server.py", schema]), structured_output=False) as tools:
            return [tool.name for tool in tools]
    except KeyError as error:
        return repr(error)

seen = [names('{"type": "object"}'), names('{"type": "object", "properties": {}}')]
print("expected: two tools both ways")
print("seen (without, with properties):", seen)
sys.exit(seen != ["KeyError('properties')", ["count", "now"]])
PY
echo "version:  smolagents 1.26.0, mcpadapt 0.1.19"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
