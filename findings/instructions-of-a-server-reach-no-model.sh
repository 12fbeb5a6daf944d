#!/usr/bin/env bash
# What: pydantic-ai-slim 2.68.0 and openai-agents 0.24.0 connect to a server that explains itself in the `instructions` of its first answer.
# Guess: the text is added to the model's instructions, which is what the protocol has it for.
# Seen: no word of it reaches the model with either. (pydantic-ai has an option for it, off unless set.)
# Why it matters: how meta-tools are to be used has to stand in their descriptions. What a hub says in `instructions` is for a few command lines.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
install() { python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check "$2" mcp==2.3.0; }
{ install pydantic 'pydantic-ai-slim[mcp]==2.68.0' && install openai openai-agents==0.24.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with one tool and instructions."""
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
                   "instructions": "Call PEAR before APPLE."},
    "tools/list": {"tools": [{"name": "count", "description": "Count.", "inputSchema": {"type": "object", "properties": {}}}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = ANSWERS.get(request["method"])
        body = {"result": answer} if answer else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
PY
cat >with_pydantic.py <<'PY'
import asyncio, sys
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

def model(messages, info):
    print("tools:", [tool.name for tool in info.function_tools], "| read:", "PEAR" in repr(messages) + repr(info))
    return ModelResponse(parts=[TextPart("done")])

async def main():
    async with Agent(FunctionModel(model), toolsets=[MCPToolset(StdioTransport(sys.executable, ["server.py"]))]) as agent:
        await agent.run("go")

asyncio.run(main())
PY
cat >with_openai.py <<'PY'
import asyncio, sys
from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

class Scripted(Model):
    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **options):
        print("tools:", [tool.name for tool in tools], "| read:", "PEAR" in repr((system_instructions, input, tools)))
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        return ModelResponse(output=[ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")], usage=Usage(), response_id=None)
    def stream_response(self, *rest, **options): raise NotImplementedError

async def main():
    set_tracing_disabled(True)
    async with MCPServerStdio({"command": sys.executable, "args": ["server.py"]}) as server:
        await Runner.run(Agent(name="a", model=Scripted(), mcp_servers=[server]), "go")

asyncio.run(main())
PY
echo "version:  pydantic-ai-slim 2.68.0, openai-agents 0.24.0"
echo "expected: read: True"
for name in pydantic openai; do
  seen=$(timeout 75 "$name/bin/python" "with_$name.py" 2>ask.log) || { tail -n 3 ask.log; echo "changed"; exit 1; }
  echo "seen:     $name: $seen"
  [ "$seen" = "tools: ['count'] | read: False" ] || { echo "changed"; exit 1; }
done
