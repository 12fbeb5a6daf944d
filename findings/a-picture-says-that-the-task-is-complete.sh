#!/usr/bin/env bash
# What: `MCPClient` of huggingface_hub 2.4.0 (mcp 1.30.0), which its agents use, turns results into the text for the model.
# Guess: a picture is handed on or named as left out; a link becomes its address; an error is marked; of two servers' tools with one name,
#   both are there under different names or the second one is refused.
# Seen: for a picture the model reads a size and the sentence "The task is complete and the content accessible to the User", whatever the picture
#   was for. A link becomes an empty text. An error is not marked as one. The second server's tool of the same name is left out.
# Why it matters: the model is told that it is done by a client library, in words that look like the tool's. A hub can only hand
#   on a text beside the picture, which is kept, and names that are different.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'huggingface_hub[mcp]==2.4.0' mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
from mcp.server.fastmcp import FastMCP
from mcp.types import CallToolResult
server = FastMCP("rooms")

def returns(name, *content, error=False):
    def tool() -> CallToolResult:
        return CallToolResult.model_validate({"content": list(content), "isError": error})
    server.add_tool(tool, name=name, structured_output=False)

returns("plan", {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"})
returns("book", {"type": "resource_link", "uri": "rooms://12", "name": "room 12"})
returns("pay", {"type": "text", "text": "the card was refused"}, error=True)
returns("where", {"type": "text", "text": sys.argv[1]})
server.run()
PY
cat >ask.py <<'PY'
import asyncio, sys
from huggingface_hub import MCPClient
from huggingface_hub.inference._mcp.utils import format_result

async def main():
    async with MCPClient(model="none", base_url="http://127.0.0.1:9/v1", api_key="none") as client:
        for house in ("north", "south"):
            await client.add_mcp_server("stdio", command=sys.executable, args=["server.py", house])
        names = [tool["function"]["name"] for tool in client.available_tools]
        return names, {name: format_result(await client.sessions[name].call_tool(name, {})) for name in names}

names, texts = asyncio.run(main())
print("expected: a picture or its absence, rooms://12, an error, north and south")
for name in names:
    print(f"seen:     {name}: {texts[name]!r}")
sys.exit(not (names == ["plan", "book", "pay", "where"] and "The task is complete" in texts["plan"] and texts["book"] == ""
              and texts["pay"] == "the card was refused" and texts["where"] == "north"))
PY
echo "version:  huggingface_hub 2.4.0, mcp 1.30.0"
timeout 100 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
