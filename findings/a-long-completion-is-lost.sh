#!/usr/bin/env bash
# What: a server of mcp 2.3.0 completes the argument of a prompt with 150 values; clients of @modelcontextprotocol/client 2.4.0 and of mcp 2.3.0 ask for them.
#   Beside it, the same in a server of @modelcontextprotocol/server 2.4.0.
# Guess: the library cuts to the 100 values that the protocol allows, and says that there are more.
# Seen: the server in TypeScript does so. The one in Python sends all 150; its own client takes them, and the client in TypeScript refuses the whole
#   answer ("expected array to have <=100 items"): the person gets no value at all.
# Why it matters: a server that was tried with its own library's client completes nothing in clients of the other, as soon as it has enough to offer.
#   A hub that passes completions on between the two has to cut them and set `hasMore`.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/server@2.4.0 zod@4.6.7; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.mcpserver import MCPServer
from mcp.types import Completion
server = MCPServer("cities")
@server.prompt()
def weather(city: str) -> str: return f"The weather in {city}?"
@server.completion()
async def complete(reference, argument, context): return Completion(values=[f"city {number}" for number in range(150)])
server.run()
PY
cat >server.mjs <<'JS'
import { McpServer, completable } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
const server = new McpServer({ name: "cities", version: "1" });
const cities = Array.from({ length: 150 }, (_, number) => `city ${number}`);
server.registerPrompt("weather", { argsSchema: z.object({ city: completable(z.string(), () => cities) }) }, () => ({ messages: [] }));
await server.connect(new StdioServerTransport());
JS
cat >ask.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "finding", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
try {
  const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "weather" }, argument: { name: "city", value: "c" } });
  console.log(`${completion.values.length} values, more: ${completion.hasMore}`);
} catch (error) {
  console.log(error.message.includes("<=100 items") ? "refused: more than 100" : error.message);
}
await client.close();
JS
cat >ask.py <<'PY'
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import PromptReference
async def main():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])) as streams, ClientSession(*streams) as session:
        await session.initialize()
        completion = (await session.complete(PromptReference(name="weather"), {"name": "city", "value": "c"})).completion
        print(f"{len(completion.values)} values, more: {completion.has_more}")
asyncio.run(main())
PY
typescript=$(timeout 40 node ask.mjs node server.mjs 2>ask.log)
python=$(timeout 40 venv/bin/python ask.py 2>>ask.log)
crossed=$(timeout 40 node ask.mjs venv/bin/python server.py 2>>ask.log)
echo "version:  mcp 2.3.0, @modelcontextprotocol/client and server 2.4.0"
echo "expected: 100 values, more: true, three times"
echo "seen:     server in TypeScript, client in TypeScript: $typescript"
echo "seen:     server in Python, client in Python: $python"
echo "seen:     server in Python, client in TypeScript: $crossed"
[ "$typescript" = "100 values, more: true" ] && [ "$python" = "150 values, more: None" ] && [ "$crossed" = "refused: more than 100" ] || { tail -n 3 ask.log; echo "changed"; exit 1; }
