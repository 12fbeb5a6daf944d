#!/usr/bin/env bash
# What: a tool fails in two ways: by a result that is marked as an error ("The account is locked: call unlock first."), and by an error of the protocol
#   with the same words. The clients are openai-agents 0.24.0 and agent-framework-core 1.23.0, with a scripted model.
# Guess: the model reads the words both times; that is what they are for.
# Seen: openai-agents hands on those of the result; for the error of the protocol the model reads "An error occurred while running the tool. Please
#   try again." agent-framework makes "Error: Function failed." of both.
# Why it matters: a hub that answers a wrong call with the right name, or with what a person has to do first, is not heard, and the model is told to
#   try the same again. Words in an ordinary result are the only ones that reach every model.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check openai-agents==0.24.0 agent-framework-core==1.23.0 mcp==2.3.0 tenacity==9.1.2; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with two tools that fail."""
import json, sys
WORDS = "The account is locked: call unlock first."
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    answer = {"error": {"code": -32601, "message": "unknown method"}}
    if request["method"] == "initialize": answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}
    if request["method"] == "ping": answer = {"result": {}}
    if request["method"] == "tools/list": answer = {"result": {"tools": [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in ("by_result", "by_protocol")]}}
    if request["method"] == "tools/call":
        by_result = {"result": {"content": [{"type": "text", "text": WORDS}], "isError": True}}
        answer = by_result if request["params"]["name"] == "by_result" else {"error": {"code": -32000, "message": WORDS}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
PY
cat >ask.py <<'PY'
import asyncio, sys
from agent_framework import Agent as FrameworkAgent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, MCPStdioTool, Message
from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

class Scripted(Model):
    """Calls the tool that it is made with, then says "done"; keeps what it was given."""
    def __init__(self, tool): self.tool, self.given = tool, []
    async def get_response(self, system_instructions, input, *rest, **more):
        self.given.append(input)
        call = ResponseFunctionToolCall(arguments="{}", call_id="1", name=self.tool, type="function_call")
        done = ResponseOutputMessage(id="2", content=[ResponseOutputText(annotations=[], text="done", type="output_text")], role="assistant", status="completed", type="message")
        return ModelResponse(output=[call if len(self.given) == 1 else done], usage=Usage(), response_id=None)
    def stream_response(self, *rest, **more): raise NotImplementedError

class ScriptedChat(FunctionInvocationLayer, BaseChatClient):
    def _inner_get_response(self, *, messages, **more):
        given.append(list(messages))
        call, done = Message("assistant", [Content.from_function_call("1", tool, arguments="{}")]), Message("assistant", ["done"])
        async def answer(): return ChatResponse(messages=[call if len(given) == 1 else done])
        return answer()

async def main():
    global tool, given
    seen = []
    for tool in ("by_result", "by_protocol"):
        async with MCPServerStdio({"command": sys.executable, "args": ["server.py"]}) as server:
            model = Scripted(tool)
            await Runner.run(Agent(name="finding", model=model, mcp_servers=[server]), "go on")
            output = model.given[-1][-1]["output"]
            seen.append(("openai-agents", tool, output if isinstance(output, str) else output[0]["text"]))
    for tool in ("by_result", "by_protocol"):
        given = []
        async with MCPStdioTool("server", sys.executable, args=["server.py"]) as server:
            await FrameworkAgent(ScriptedChat(), tools=[server]).run("go on")
            seen.append(("agent-framework", tool, given[-1][-1].contents[0].result))
    print("expected: The account is locked: call unlock first. (four times)")
    for client, tool, words in seen: print(f"seen:     {client}, {tool}: {words}")
    again, failed = "An error occurred while running the tool. Please try again.", "Error: Function failed."
    sys.exit([words for _, _, words in seen] != ["The account is locked: call unlock first.", again, failed, failed])

set_tracing_disabled(True)
asyncio.run(main())
PY
echo "version:  openai-agents 0.24.0, agent-framework-core 1.23.0, mcp 2.3.0"
timeout 100 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
