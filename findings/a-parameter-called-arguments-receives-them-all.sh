#!/usr/bin/env bash
# What: semantic-kernel 1.45.0 (mcp 1.30.0) calls a tool with two parameters, `tool_path` and `arguments`.
# Guess: each parameter receives its value.
# Seen: the framework has an object of its own by that name, which holds all values of the call. It fills the parameter: the server
#   gets `arguments: {tool_path: …, arguments: {…}}`, the wanted value one level too deep. No error is raised.
# Why it matters: a meta-tool that runs other tools naturally has a parameter of that name. Through this client no call with
#   arguments arrives right.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'semantic-kernel[mcp]==1.45.0' mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool that returns its arguments."""
import json, sys
SCHEMA = {"type": "object", "required": ["tool_path"], "properties": {"tool_path": {"type": "string"}, "arguments": {"type": "object"}}}
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list": return {"tools": [{"name": "run", "description": "Run a tool.", "inputSchema": SCHEMA}]}
    if method == "tools/call": return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params"))
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, json, sys
from semantic_kernel import Kernel
from semantic_kernel.connectors.mcp import MCPStdioPlugin
from semantic_kernel.functions import KernelArguments

async def main():
    async with MCPStdioPlugin(name="s", command=sys.executable, args=["server.py"]) as plugin:
        kernel = Kernel()
        kernel.add_plugin(plugin)
        sent = {"tool_path": "shop:order", "arguments": {"item": "tea"}}
        result = await kernel.invoke(plugin_name="s", function_name="run", arguments=KernelArguments(**sent))
    seen = json.loads(str(result))
    print("expected:", json.dumps(sent))
    print("seen:    ", json.dumps(seen))
    sys.exit(seen != {"tool_path": "shop:order", "arguments": sent})

asyncio.run(main())
PY
echo "version:  semantic-kernel 1.45.0, mcp 1.30.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
