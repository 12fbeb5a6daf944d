#!/usr/bin/env bash
# What: a tool that is declared to return a number and returns "not a number" (mcp 2.3.0, server and client; 1.30.0 does the same).
# Guess: the server answers with an error, or writes NaN, which is not JSON.
# Seen: the answer is valid JSON and says isError false. Its text block says `NaN`, its structured content says `null`, and the tool's own
#   output schema says `number`. The library's own client therefore refuses the answer, after the tool has run.
# Why it matters: clients that hand only structured content to the model show null where the text said NaN, and strict clients
#   lose the call. A hub that passes both unchanged is not at fault, and is blamed for it.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.mcpserver import MCPServer
server = MCPServer("statistics")

@server.tool()
def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")

server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
import asyncio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALL = {"name": "mean", "arguments": {"values": []}}

def raw():
    """The call without a client library."""
    server = subprocess.Popen([sys.executable, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def ask(number, method, params):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())["result"]
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
    declared = ask(2, "tools/list", {})["tools"][0]["outputSchema"]["properties"]["result"]["type"]
    result = ask(3, "tools/call", CALL)
    server.stdin.close()
    server.wait(20)
    return declared, result["isError"], result["content"][0]["text"], result["structuredContent"]

async def library():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.list_tools()
        try:
            await session.call_tool(**CALL)
            return "accepted"
        except Exception as error:
            return type(error).__name__

seen = (*raw(), asyncio.run(library()))
print("expected: an error of the server, or NaN")
print("seen (declared type, isError, text, structured content, library's client):", seen)
sys.exit(seen != ("number", False, "NaN", {"result": None}, "RuntimeError"))
PY
echo "version:  mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
