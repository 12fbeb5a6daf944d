#!/usr/bin/env bash
# What: a tool of a server of fastmcp 4.20.16 (npm, TypeScript) hands out its text in two parts while it runs (`streamContent`), and returns nothing, or "done".
#   It is called by the client of @modelcontextprotocol/client 2.4.0 and seen on the wire.
# Guess: the parts are in the result at the end; who wants them earlier gets them as progress as well.
# Seen: they are in `notifications/tool/streamContent`, which is in no revision of the protocol. The result has what was returned: no content at all, or
#   "done". The client gives the model just that, and no sign that something is missing.
# Why it matters: to models such a tool finds nothing. A hub, which passes on the messages that it knows, cannot help: the text was never in the answer. The mark
#   `streamingHint` in the list of tools is all that tells such a tool from others.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ npm install --prefix "$work/server" --no-audit --no-fund --loglevel error fastmcp@4.20.16 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/client@2.4.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server/server.mjs <<'JS'
import { FastMCP } from "fastmcp";
const server = new FastMCP({ name: "reports", version: "1.0.0" });
for (const [name, end] of [["report", undefined], ["report_and_say", "done"]])
  server.addTool({ name, description: "Writes a report", annotations: { streamingHint: true }, execute: async (given, { streamContent }) => {
    for (const text of ["Sales went up.", "Costs went down."]) await streamContent({ type: "text", text });
    return end;
  } });
await server.start({ transportType: "stdio" });
JS
cat >ask.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const transport = new StdioClientTransport({ command: "node", args: ["server/server.mjs"], stderr: "ignore" });
const client = new Client({ name: "finding", version: "1" });
const methods = [];
client.fallbackNotificationHandler = async notification => { methods.push(notification.method); };
await client.connect(transport);
const results = [];
for (const name of ["report", "report_and_say"]) results.push((await client.callTool({ name, arguments: {} })).content.map(block => block.text));
await client.close();
console.log('expected: both results hold "Sales went up." and "Costs went down."');
console.log("seen:     results", JSON.stringify(results), "and notifications", JSON.stringify(methods));
process.exit(JSON.stringify(results) === '[[],["done"]]' && methods.length === 4 && methods.every(method => method === "notifications/tool/streamContent") ? 0 : 1);
JS
echo "version:  fastmcp (npm) 4.20.16, @modelcontextprotocol/client 2.4.0"
timeout 60 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
