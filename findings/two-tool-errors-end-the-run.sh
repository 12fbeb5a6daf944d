#!/usr/bin/env bash
# What: an agent of pydantic-ai-slim 2.68.0 (mcp 2.3.0) calls a tool that answers twice in a row with `isError: true`.
# Guess: the model reads both errors and goes on; a tool's error is an answer.
# Seen: the model reads the first. The second raises UnexpectedModelBehavior out of the run: the agent ends. Errors are counted for each
#   name of a tool; two different tools may each fail once.
# Why it matters: behind meta-tools all calls have one name. Two wrong guesses in a row about two different tools end the run, where the
#   tools themselves would have given each its own count.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'pydantic-ai-slim[mcp]==2.68.0' mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with two tools that answer with an error."""
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
    "tools/list": {"tools": [{"name": name, "description": name, "inputSchema": {"type": "object", "properties": {}}} for name in ("rows", "tables")]},
    "tools/call": {"content": [{"type": "text", "text": "no such table"}], "isError": True},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = ANSWERS.get(request["method"])
        body = {"result": answer} if answer else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, sys
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

async def end(*calls):
    """What becomes of a run in which the model makes these calls, one after another."""
    rest = iter(calls)
    def model(messages, info):
        name = next(rest, None)
        return ModelResponse(parts=[ToolCallPart(name, {}) if name else TextPart("done")])
    async with Agent(FunctionModel(model), toolsets=[MCPToolset(StdioTransport(sys.executable, ["server.py"]))]) as agent:
        try:
            return (await agent.run("go")).output
        except Exception as error:
            return type(error).__name__

async def main():
    seen = {"two tools, one error each": await end("rows", "tables"), "one tool, two errors": await end("rows", "rows")}
    print("expected: both runs end with the model's last word")
    print("seen:    ", seen)
    sys.exit(list(seen.values()) != ["done", "UnexpectedModelBehavior"])

asyncio.run(main())
PY
echo "version:  pydantic-ai-slim 2.68.0, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
