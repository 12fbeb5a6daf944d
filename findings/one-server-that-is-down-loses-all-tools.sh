#!/usr/bin/env bash
# What: `MultiServerMCPClient` of langchain-mcp-adapters 0.3.2 (mcp 1.30.0) with two servers, one of which is not running; `fastmcp.Client` 4.2.3 with the
#   same two.
# Guess: both hand out the tools of the server that runs, and say which one does not.
# Seen: so does fastmcp, in its log. `get_tools()` of LangChain raises an ExceptionGroup and returns no tool of any server, and nothing in it is
#   the name of the one that is down.
# Why it matters: a person with ten servers has none while one is updated. A hub is one server that is always there, and has to say which
#   of its own are not.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv chain && chain/bin/pip install -q --disable-pip-version-check langchain-mcp-adapters==0.3.2 mcp==1.30.0 &&
  python3 -m venv fast && fast/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.fastmcp import FastMCP
server = FastMCP("garden")

@server.tool()
def water() -> str:
    return "watered"

server.run()
PY
cat >chain.py <<'PY'
import asyncio
from langchain_mcp_adapters.client import MultiServerMCPClient
up = {"transport": "stdio", "command": "chain/bin/python", "args": ["server.py"]}
down = {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp"}
try:
    print([tool.name for tool in asyncio.run(MultiServerMCPClient({"garden": up, "office": down}).get_tools())])
except ExceptionGroup as error:
    print(type(error).__name__, "names the server" if "office" in repr(error) else "without its name")
PY
cat >fast.py <<'PY'
import asyncio
from fastmcp import Client

async def main():
    up = {"command": "chain/bin/python", "args": ["server.py"]}
    async with Client({"mcpServers": {"garden": up, "office": {"url": "http://127.0.0.1:9/mcp"}}}) as client:
        return [tool.name for tool in await client.list_tools()]

print(asyncio.run(main()))
PY
chain=$(timeout 80 chain/bin/python chain.py 2>chain.log)
fast=$(timeout 80 fast/bin/python fast.py 2>fast.log)
echo "version:  langchain-mcp-adapters 0.3.2, mcp 1.30.0; fastmcp 4.2.3, mcp 2.3.0"
echo "expected: water, from both"
echo "seen:     langchain: $chain"
echo "seen:     fastmcp: $fast; the name of the other server in its output: $(grep -c office fast.log) times"
[ "$chain" = "ExceptionGroup without its name" ] && [ "$fast" = "['garden_water']" ] && grep -q office fast.log ||
  { tail -n 3 chain.log fast.log; echo "changed"; exit 1; }
