#!/usr/bin/env bash
# What: pydantic-ai-slim 2.68.0 (mcp 2.3.0) hands the result of a tool to the model. The result has text and structured content.
# Guess: the model gets the text, which the protocol means for models, or both.
# Seen: the model gets the structured content alone. No word of the text reaches it.
# Why it matters: whatever a program on the way adds to the text or takes out of it (a note that the result was cut, hidden characters)
#   has no effect for this client unless the same is done to the structured content. Claude Code 2.1 and Codex 0.171 do the same.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'pydantic-ai-slim[mcp]==2.68.0' mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool, whose result has text and structured content."""
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
    "tools/list": {"tools": [{"name": "rows", "description": "Rows.", "inputSchema": {"type": "object", "properties": {}}}]},
    "tools/call": {"content": [{"type": "text", "text": "2 of 900 rows. Ask for the next page."}], "structuredContent": {"rows": [1, 2]}},
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
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

seen = []

def model(messages, info):
    """A model that calls the tool once and keeps what it is given."""
    returns = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    seen.extend(part.model_response_str() for part in returns)
    return ModelResponse(parts=[TextPart("done") if returns else ToolCallPart("rows", {})])

async def main():
    async with Agent(FunctionModel(model), toolsets=[MCPToolset(StdioTransport(sys.executable, ["server.py"]))]) as agent:
        await agent.run("go")
    print("expected: the text, with or without the structure")
    print("seen:    ", seen[0])
    sys.exit(seen != ['{"rows":[1,2]}'])

asyncio.run(main())
PY
echo "version:  pydantic-ai-slim 2.68.0, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
