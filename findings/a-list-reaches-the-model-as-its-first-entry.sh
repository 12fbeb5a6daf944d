#!/usr/bin/env bash
# What: a tool that returns a list of texts, written with mcp 2.3.0, called by smolagents 1.26.0 (mcpadapt 0.1.19, mcp 1.30.0).
# Guess: the server writes one block with the list, or the client joins the blocks. An empty list arrives as an empty text.
# Seen: the server writes one block for each entry and no block at all for an empty list. The client hands the agent the first block:
#   of three hits it sees one, without a sign that there were more. For no hits the call raises ValueError, although it succeeded.
# Why it matters: both ends follow the protocol, and the model reads a part as the whole. What a hub adds to a result (a note that it was
#   cut, for instance) is not seen there if it stands in a block of its own at the end.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv server && server/bin/pip install -q --disable-pip-version-check mcp==2.3.0 &&
  python3 -m venv client && client/bin/pip install -q --disable-pip-version-check 'smolagents[mcp]==1.26.0' mcpadapt==0.1.19 mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.mcpserver import MCPServer
server = MCPServer("search")

@server.tool()
def find(hits: int) -> list[str]:
    """Find pages."""
    return [f"page {n}" for n in range(1, hits + 1)]

server.run()
PY
cat >ask.py <<'PY'
import sys
from mcp import StdioServerParameters
from smolagents import MCPClient

def call(tool, hits):
    try:
        return tool.forward(hits=hits)
    except ValueError:
        return "ValueError"

with MCPClient(StdioServerParameters(command="server/bin/python", args=["server.py"]), structured_output=False) as tools:
    seen = [call(tools[0], 3), call(tools[0], 0)]
print("expected: three pages; an empty answer")
print("seen:    ", seen)
sys.exit(seen != ["page 1", "ValueError"])
PY
echo "version:  mcp 2.3.0 (server); smolagents 1.26.0, mcpadapt 0.1.19, mcp 1.30.0 (client)"
timeout 150 client/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
