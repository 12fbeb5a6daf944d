#!/usr/bin/env bash
# What: a tool answers with structured content and no text, as the protocol allows; another with a text beside a link. The client is @openai/agents 0.20.0
#   (JavaScript), with a scripted model.
# Guess: where there is no text, the model gets the structured content; the text stays a text.
# Seen: the model gets "[]": the structured content is left out, and an empty list is what remains. With a link beside it, the text arrives inside
#   the JSON of the whole list.
# Why it matters: other clients hand the model the structured content alone, so a server cannot please both with one part. The model reads "[]" as "none
#   found". A hub that adds a text of the same content makes such servers work here.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @openai/agents@0.20.0 zod@4.6.7 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 with two tools."""
import json, sys
RESULTS = {"structured": {"content": [], "structuredContent": {"orders": [7, 8]}},
           "linked": {"content": [{"type": "text", "text": "Two orders."}, {"type": "resource_link", "uri": "note://orders", "name": "orders"}]}}
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
import { Agent, MCPServerStdio, Usage, run, setTracingDisabled } from "@openai/agents";
setTracingDisabled(true);
const server = new MCPServerStdio({ command: "python3", args: ["server.py"] });
await server.connect();
const seen = {};
for (const name of ["structured", "linked"]) {
  let turn = 0;
  const call = { type: "function_call", callId: "1", name, arguments: "{}", status: "completed" };
  const done = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
  const model = { async getResponse(request) {
    if (turn++) seen[name] = request.input.at(-1).output;
    return { usage: new Usage(), output: [turn === 1 ? call : done] };
  } };
  await run(new Agent({ name: "finding", model, mcpServers: [server] }), "go on");
}
await server.close();
console.log('expected: {"orders": [7, 8]}; the text, and something about the link');
for (const [name, output] of Object.entries(seen)) console.log(`seen:     ${name}: ${JSON.stringify(output)}`);
process.exit(seen.structured.text === "[]" && seen.linked.type === "text" && JSON.parse(seen.linked.text)[0].text === "Two orders." ? 0 : 1);
JS
echo "version:  @openai/agents 0.20.0"
timeout 90 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
