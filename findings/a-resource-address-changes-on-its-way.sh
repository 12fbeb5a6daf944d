#!/usr/bin/env bash
# What: the client of mcp 1.30.0, which many frameworks still pin, reads resources at the addresses that the server listed.
# Guess: an address is an opaque text; the server is asked for exactly what it listed.
# Seen: the client parses each address and writes it anew. A space becomes %20, a host is lowered and gets a slash, `a/../b` becomes `b`;
#   addresses of schemes without a host stay. mcp 2.3.0 sends every address as listed.
# Why it matters: a hub that finds the server of an address by comparing texts knows none for the address that comes back.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for version in 1.30.0 2.3.0; do
  { python3 -m venv "$version" && "$version/bin/pip" install -q --disable-pip-version-check "mcp==$version"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with five resources; writes down the addresses it is asked for."""
import json, sys
ADDRESSES = ["file:///notes/to do.txt", "https://Wiki.example", "repo://main/a/../b", "note://Shopping-List", "urn:isbn:045"]
def answer(method, params):
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"resources": {}}, "serverInfo": {"name": "library", "version": "1"}}
    if method == "resources/list": return {"resources": [{"uri": uri, "name": uri} for uri in ADDRESSES]}
    if method == "resources/read":
        print(params["uri"], file=open(sys.argv[1], "a"))
        return {"contents": [{"uri": params["uri"], "text": "read"}]}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params"))}), flush=True)
PY
cat >read.py <<'PY'
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.executable, args=["server.py", sys.argv[1]])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for resource in (await session.list_resources()).resources:
            await session.read_resource(resource.uri)

asyncio.run(main())
PY
for version in 1.30.0 2.3.0; do
  timeout 60 "$version/bin/python" read.py "$version.txt" 2>read.log || { tail -n 3 read.log; echo "changed"; exit 1; }
done
printf '%s\n' 'file:///notes/to do.txt' https://Wiki.example repo://main/a/../b note://Shopping-List urn:isbn:045 >listed.txt
printf '%s\n' 'file:///notes/to%20do.txt' https://wiki.example/ repo://main/b note://Shopping-List urn:isbn:045 >stated.txt
echo "version:  mcp 1.30.0 and 2.3.0"
echo "expected: each address as it was listed"
echo "seen:     listed | asked for by 1.30.0 | asked for by 2.3.0"
paste -d '|' listed.txt 1.30.0.txt 2.3.0.txt
cmp -s 1.30.0.txt stated.txt && cmp -s 2.3.0.txt listed.txt || { echo "changed"; exit 1; }
