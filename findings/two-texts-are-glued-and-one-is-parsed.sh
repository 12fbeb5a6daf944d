#!/usr/bin/env bash
# What: tools answer with two blocks of text, with a text that is JSON, and with a text beside structured content. The client is @genkit-ai/mcp 1.42.0.
# Guess: texts reach the model as they are; two blocks stay apart, or a line end stands between them.
# Seen: the blocks are joined without anything between ("…42 filesCut:…"). A text that can be read as JSON is read, so 12345678901234567890 becomes another
#   number and 1.50 becomes 1.5. Beside structured content the text is dropped.
# Why it matters: a note that a hub adds as a block of its own runs into the last word of the result, and turns JSON into a text that is not. Order
#   numbers in a text are wrong in the model's eyes, and right in the hub's record.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @genkit-ai/mcp@1.42.0 genkit@1.42.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with three tools."""
import json, sys
def text(words): return {"type": "text", "text": words}
RESULTS = {"two": {"content": [text("42 files"), text("Cut: there are more.")]}, "order": {"content": [text('{"order": 12345678901234567890, "price": 1.50}')]},
           "both": {"content": [text("The order was cancelled.")], "structuredContent": {"order": 7}}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}, "ping": {},
              "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in RESULTS]}}.get(request["method"])
    if request["method"] == "tools/call": result = RESULTS[request["params"]["name"]]
    answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
PY
cat >ask.mjs <<'JS'
import { createMcpClient } from "@genkit-ai/mcp";
import { genkit } from "genkit";
const client = createMcpClient({ name: "s", mcpServer: { command: "python3", args: ["server.py"] } });
await client.ready();
const seen = {};
for (const tool of await client.getActiveTools(genkit({}))) seen[tool.__action.name] = await tool({});
await client.disable();
console.log('expected: 42 files / Cut: there are more.; {"order": 12345678901234567890, "price": 1.50}; The order was cancelled.');
for (const [name, value] of Object.entries(seen)) console.log(`seen:     ${name}: ${typeof value}, ${JSON.stringify(value)}`);
const stated = { "s/two": "42 filesCut: there are more.", "s/order": { order: Number("12345678901234567890"), price: 1.5 }, "s/both": { order: 7 } };
process.exit(JSON.stringify(seen) === JSON.stringify(stated) ? 0 : 1);
JS
echo "version:  @genkit-ai/mcp 1.42.0, genkit 1.42.0"
timeout 90 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
