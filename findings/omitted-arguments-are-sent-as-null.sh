#!/usr/bin/env bash
# What: crewai-tools 1.15.30 (mcp 1.30.0) calls a tool and gives only the required argument.
# Guess: the other arguments are left out, so the server uses its defaults.
# Seen: an optional argument without a default is sent as null, which the schema does not allow. One with a default is sent with it.
# Why it matters: strict servers (mcp 1 and 2, fastmcp) refuse such a call, although the model did everything right. Something on the
#   way has to take the nulls out again, and only where the schema forbids null, because elsewhere null has a meaning.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'crewai-tools[mcp]==1.15.30' mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool that returns its arguments; only `item` is required."""
import json, sys
SCHEMA = {"type": "object", "required": ["item"], "properties": {
    "item": {"type": "string"}, "colour": {"type": "string"}, "amount": {"type": "integer", "default": 1}}}
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    if method == "tools/list": return {"tools": [{"name": "order", "description": "Order something.", "inputSchema": SCHEMA}]}
    return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params"))}), flush=True)
PY
cat >ask.py <<'PY'
import json, os, sys
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="true", HOME=os.getcwd())
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

with MCPServerAdapter(StdioServerParameters(command=sys.executable, args=["server.py"])) as tools:
    seen = json.loads(tools[0].run(item="tea"))
print('expected: {"item": "tea"}, perhaps with the default of amount')
print("seen:    ", json.dumps(seen))
sys.exit(seen != {"item": "tea", "colour": None, "amount": 1})
PY
echo "version:  crewai-tools 1.15.30, mcp 1.30.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
