#!/usr/bin/env bash
# What: a tool that asks the person, served by `createMcpHandler` of @modelcontextprotocol/server 2.4.0, the library's way to serve both families over
#   HTTP; a client of 2025-11-25 that declares forms in `initialize`, and one of 2026-07-28 that declares them in each request.
# Guess: both are asked, each in the way of its family; or the older one is refused, because the handler keeps no sessions.
# Seen: the older client is welcomed, changes of lists are promised to it, and the GET that would bring them is answered with 405. The call ends
#   with "Client does not support form elicitation.", although it does: each request makes a new server, which never saw `initialize`.
#   The newer client is told that the tool has to be written in another way. So no person is ever asked.
# Why it matters: the error blames the client, and what a server promised in `initialize` is no promise. A hub has to pass the server's words on with the
#   server's name, and to read lists again by itself.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${server:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/node@2.1.2 zod@4.6.7 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.mjs <<'JS'
import { createServer } from "node:http";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as z from "zod";
const make = () => {
  const server = new McpServer({ name: "orders", version: "1" });
  server.registerTool("order", { description: "Order.", inputSchema: z.object({}) }, async (_, context) => {
    const requestedSchema = { type: "object", properties: { sure: { type: "boolean" } } };
    const answer = await context.mcpReq.elicitInput({ message: "Order it?", requestedSchema });
    return { content: [{ type: "text", text: answer.action }] };
  });
  return server;
};
const listening = createServer(toNodeHandler(createMcpHandler(make))).listen(0, "127.0.0.1", () => console.log(listening.address().port));
JS
cat >ask.py <<'PY'
import json, sys, urllib.error, urllib.request
address = f"http://127.0.0.1:{sys.argv[1]}/mcp"

def send(message, headers, method="POST"):
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **message}).encode() if message else None
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers, method=method), timeout=20) as answer:
            text = answer.read().decode()
            return json.loads(([line[6:] for line in text.splitlines() if line.startswith("data: {")] or [text])[-1])["result"]
    except urllib.error.HTTPError as error:
        return error.code

forms = {"elicitation": {"form": {}}}
order = {"name": "order", "arguments": {}}
older = {"mcp-protocol-version": "2025-11-25"}
hello = send({"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": forms, "clientInfo": {"name": "finding", "version": "1"}}}, {})
stream = send(None, older, "GET")
asked_older = send({"method": "tools/call", "params": order}, older)["content"][0]["text"]
prefix = "io.modelcontextprotocol/"
meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientInfo": {"name": "finding", "version": "1"}, prefix + "clientCapabilities": forms}
newer = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "order"}
asked_newer = send({"method": "tools/call", "params": {**order, "_meta": meta}}, newer)["content"][0]["text"]
print("expected: a question to each")
print(f"seen:     2025-11-25: {hello['protocolVersion']} agreed, {hello['capabilities']['tools']}, GET {stream}, then: {asked_older}")
print(f"          2026-07-28: {asked_newer[:110]}…")
sys.exit(not (hello["protocolVersion"] == "2025-11-25" and hello["capabilities"]["tools"] == {"listChanged": True} and stream == 405
              and asked_older == "Client does not support form elicitation." and "not available" in asked_newer))
PY
node server.mjs >port 2>server.log &
server=$!
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
echo "version:  @modelcontextprotocol/server 2.4.0"
timeout 60 python3 ask.py "$(cat port)" 2>ask.log || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
