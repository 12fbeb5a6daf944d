#!/usr/bin/env bash
# What: an agent of pydantic-ai-slim 2.68.0 (mcp 2.3.0) uses a server that adds a tool while it is called and announces changes of its list.
#   The server is tried in revision 2025-11-25 and in 2026-07-28, where a client must subscribe to hear of changes, and where the
#   list says by `ttlMs: 0` that it may not be kept.
# Guess: the newer the revision, the better the client follows; at least it does not keep a list that may not be kept.
# Seen: with 2025-11-25 the model has the new tool at its next step. With 2026-07-28 the client neither subscribes nor asks again: the new tool
#   is missing until the connection ends.
# Why it matters: answering such a client in the newest revision both know makes it worse. Which revision to offer is a fact of each client.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'pydantic-ai-slim[mcp]==2.68.0' mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 or 2026-07-28, as its argument says. Its tool adds another; writes down the methods it is asked for."""
import json, sys
new = sys.argv[1] == "2026-07-28"
names, server = ["grow"], {"name": "s", "version": "1"}
capabilities = {"tools": {"listChanged": True}}
keep_nothing = {"ttlMs": 0, "cacheScope": "private"} if new else {}

def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def answer(method):
    if method == "server/discover" and new: return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, **keep_nothing}
    if method == "initialize" and not new: return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": name, "inputSchema": {"type": "object", "properties": {}}} for name in names], **keep_nothing}
    if method == "tools/call":
        names.append("pear")
        if not new: say({"method": "notifications/tools/list_changed"})
        return {"content": [{"type": "text", "text": "grown"}]}

for line in sys.stdin:
    request = json.loads(line)
    print(request["method"], file=open(sys.argv[1] + ".txt", "a"))
    if "id" in request:
        result = answer(request["method"])
        if result and new:
            result |= {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": server}}
        say({"id": request["id"], **({"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}})})
PY
cat >ask.py <<'PY'
import asyncio, sys
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

async def tools(revision):
    """The tools the model is offered in two runs, the first of which makes the server add one."""
    offered = []
    def model(messages, info):
        offered.append([tool.name for tool in info.function_tools])
        return ModelResponse(parts=[ToolCallPart("grow", {}) if len(offered) == 1 else TextPart("done")])
    async with Agent(FunctionModel(model), toolsets=[MCPToolset(StdioTransport(sys.executable, ["server.py", revision]))]) as agent:
        await agent.run("go")
        await asyncio.sleep(1)
        await agent.run("go")
    asked = open(revision + ".txt").read().split()
    return offered[-1], asked.count("tools/list"), "subscriptions/listen" in asked

async def main():
    seen = {revision: await tools(revision) for revision in ("2025-11-25", "2026-07-28")}
    print("expected: the new tool with both")
    print("seen (tools at the end, lists asked for, subscribed):", seen)
    sys.exit(seen["2025-11-25"][0] != ["grow", "pear"] or seen["2026-07-28"] != (["grow"], 1, False))

asyncio.run(main())
PY
echo "version:  pydantic-ai-slim 2.68.0, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
