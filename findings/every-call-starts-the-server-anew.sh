#!/usr/bin/env bash
# What: `MultiServerMCPClient.get_tools()` of langchain-mcp-adapters 0.3.2 (mcp 1.30.0) with one program; the tools are listed and called three times.
# Guess: the client starts the program once and keeps it, as its name and its list of servers suggest.
# Seen: it starts a program for the list and one more for each call, and ends each after it. A counter in the server is 1 at every call. A session
#   that lasts has to be opened by hand, with another function.
# Why it matters: a server that takes three seconds to start takes them at every call, and one that keeps state forgets it. Behind a hub the
#   client starts only the bridge anew, so the hub must neither count a client for each nor end the server with it.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check langchain-mcp-adapters==0.3.2 mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.fastmcp import FastMCP
open("starts", "a").write("x")
server, calls = FastMCP("counter"), []

@server.tool()
def count() -> str:
    calls.append("x")
    return str(len(calls))

server.run()
PY
cat >ask.py <<'PY'
import asyncio, sys
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

def starts(): return len(open("starts").read())
def text(answer): return answer if isinstance(answer, str) else answer[0]["text"]

async def main():
    client = MultiServerMCPClient({"counter": {"transport": "stdio", "command": sys.executable, "args": ["server.py"]}})
    tool = (await client.get_tools())[0]
    answers = [text(await tool.ainvoke({})) for _ in range(3)]
    usual = answers, starts()
    async with client.session("counter") as session:
        tool = (await load_mcp_tools(session))[0]
        return usual, ([text(await tool.ainvoke({})) for _ in range(3)], starts() - usual[1])

usual, by_hand = asyncio.run(main())
print("expected: 1, 2, 3 from one start")
print(f"seen:     {', '.join(usual[0])} from {usual[1]} starts; with a session opened by hand: {', '.join(by_hand[0])} from {by_hand[1]}")
sys.exit((usual, by_hand) != ((["1", "1", "1"], 4), (["1", "2", "3"], 1)))
PY
echo "version:  langchain-mcp-adapters 0.3.2, mcp 1.30.0"
timeout 100 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
