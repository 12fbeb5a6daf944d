#!/usr/bin/env bash
# What: a tool has three parameters, `z.iso.datetime()`, `z.email()` and `z.int()` of zod 4.6.7, in a server of @modelcontextprotocol/server 2.4.0. It is called
#   with a time that names its offset. Beside it, the same with `datetime` in a server of mcp 2.3.0.
# Guess: the schema says "format": "date-time", "format": "email" and "integer", and a time with an offset is one.
# Seen: beside each format stands a pattern, of more than 200 characters for the time; the integer has two bounds of 16 digits. The pattern asks for "Z" at
#   the end, so 09:30:00+02:00 is refused as "Invalid ISO datetime". mcp takes it.
# Why it matters: much of what such a tool costs in a model's context is these patterns, one for each date. A model reads "date-time" and writes the offset
#   of its user; a hub that checks the format alone lets it pass, and the server refuses it.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 zod@4.6.7; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
const server = new McpServer({ name: "calendar", version: "1" });
const inputSchema = z.object({ at: z.iso.datetime(), mail: z.email(), guests: z.int() });
server.registerTool("invite", { inputSchema }, async ({ at }) => ({ content: [{ type: "text", text: at }] }));
await server.connect(new StdioServerTransport());
JS
cat >server.py <<'PY'
from datetime import datetime
from mcp.server.mcpserver import MCPServer
server = MCPServer("calendar")
@server.tool()
def invite(at: datetime, mail: str, guests: int) -> str: return at.isoformat()
server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
seen = {}
for name, command in (("server", ["node", "server.mjs"]), ("mcp", ["venv/bin/python", "server.py"])):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def ask(number, method, params):
        send(id=number, method=method, params=params)
        while (message := json.loads(server.stdout.readline())).get("id") != number: pass
        return message["result"]
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    send(method="notifications/initialized")
    tool = ask(2, "tools/list", {})["tools"][0]
    called = ask(3, "tools/call", {"name": "invite", "arguments": {"at": "2026-07-01T09:30:00+02:00", "mail": "ann@example.com", "guests": 3}})
    server.stdin.close()
    server.wait(20)
    parts = tool["inputSchema"]["properties"]
    seen[name] = {"format": parts["at"].get("format"), "pattern": len(parts["at"].get("pattern", "")), "mail": len(parts["mail"].get("pattern", "")),
                  "bounds": [parts["guests"].get(bound) for bound in ("minimum", "maximum")], "refused": bool(called.get("isError")), "words": called["content"][0]["text"]}
print("expected: format date-time, no pattern, no bounds, not refused")
for name, found in seen.items(): print(f"seen:     {name}:", ", ".join(f"{key} {value}" for key, value in found.items()))
zod, python = seen["server"], seen["mcp"]
sys.exit(not (zod["format"] == python["format"] == "date-time" and zod["pattern"] > 200 and zod["mail"] > 50 and zod["bounds"] == [-9007199254740991, 9007199254740991]
              and zod["refused"] and "Invalid ISO datetime" in zod["words"] and python["pattern"] == 0 and not python["refused"]))
PY
echo "version:  @modelcontextprotocol/server 2.4.0, zod 4.6.7, mcp 2.3.0"
timeout 60 python3 ask.py 2>ask.log || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
