#!/usr/bin/env bash
# What: a server of fastmcp 4.2.3 says that clients may keep its answers for a minute (`cache_ttl=60`). A client reads a resource, changes it by a tool of that
#   server, and reads it again. Clients of mcp 2.3.0 in both families of revisions, and of @modelcontextprotocol/client 2.4.0 and fastmcp 4.2.3 in the newer one.
# Guess: lists are kept; contents are read anew, or at least after a call of the client's own to the same server.
# Seen: in the newer revision the clients of mcp and of the TypeScript library hand out the old text, and the server is not asked: they heed the
#   hint without being told to, for contents too. fastmcp's own client does not. In the older revision nothing is kept.
# Why it matters: an agent that writes a note and reads it back sees that "nothing was written", and writes again, while the hub's record has
#   one reading only. A hub that states how long its lists may be kept has to say 0 for contents.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/client@2.4.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from fastmcp import FastMCP
server = FastMCP("notes", cache_ttl=60)
note = ["old"]
@server.resource("note://today")
def today() -> str:
    print("read", file=open("asked.txt", "a"))
    return note[0]
@server.tool
def write(text: str) -> str:
    note[0] = text
    return "written"
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
"""Reads, writes and reads again with the named client."""
import asyncio, sys
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    if sys.argv[1] == "fastmcp": client = FastClient(StdioTransport(sys.executable, ["server.py"]))
    else: client = Client(stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])), **({"mode": "legacy"} if sys.argv[1] == "legacy" else {}))
    texts = []
    async with client:
        for _ in range(2):
            read = await client.read_resource("note://today")
            texts.append((read if isinstance(read, list) else read.contents)[0].text)
            await client.call_tool("write", {"text": "new"})
        print(client.protocol_version, *texts)
asyncio.run(main())
PY
cat >ask.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const client = new Client({ name: "finding", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command: "venv/bin/python", args: ["server.py"], stderr: "ignore" }));
const texts = [];
for (const _ of [1, 2]) {
  texts.push((await client.readResource({ uri: "note://today" })).contents[0].text);
  await client.callTool({ name: "write", arguments: { text: "new" } });
}
console.log(client.getNegotiatedProtocolVersion(), ...texts);
await client.close();
JS
ask() { # a client and its command: the revision, both texts, and how often the server was asked
  rm -f asked.txt
  seen=$(timeout 35 "${@:2}" 2>>ask.log)
  echo "$seen, asked $(wc -l <asked.txt | tr -d ' ')"
}
newer=$(ask mcp venv/bin/python ask.py mcp)
older=$(ask mcp venv/bin/python ask.py legacy)
typescript=$(ask typescript node ask.mjs)
own=$(ask fastmcp venv/bin/python ask.py fastmcp)
echo "version:  fastmcp 4.2.3, mcp 2.3.0, @modelcontextprotocol/client 2.4.0"
echo "expected: old new, asked 2, from all"
echo "seen:     mcp: $newer"
echo "seen:     mcp, the older family: $older"
echo "seen:     TypeScript: $typescript"
echo "seen:     fastmcp: $own"
[ "$newer" = "2026-07-28 old old, asked 1" ] && [ "$older" = "2025-11-25 old new, asked 2" ] && [ "$typescript" = "$newer" ] && [ "$own" = "2026-07-28 old new, asked 2" ] ||
  { tail -n 3 ask.log; echo "changed"; exit 1; }
