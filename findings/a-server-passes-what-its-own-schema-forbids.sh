#!/usr/bin/env bash
# What: a tool of @modelcontextprotocol/server 2.4.0 declares its result as an object with one field (zod) and returns one field more.
# Guess: the server takes the extra field out, as zod does by default, or refuses the result itself.
# Seen: the server checks the result, finds it right and sends it with the extra field. The schema that it publishes for the same tool
#   says `additionalProperties: false`. The client of the same project (2.4.0) throws, and so do the clients of mcp 1 and 2.
# Why it matters: a service that adds a field to its answers breaks the tool for every strict client and for no lenient one. A hub that
#   checks results against schemas would take a working tool away; one that passes them is blamed for the error.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.mjs <<'JS'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
const server = new McpServer({ name: 'weather', version: '1' })
server.registerTool('now', { description: 'The weather.', outputSchema: z.object({ degrees: z.number() }) },
  async () => ({ content: [{ type: 'text', text: '7' }], structuredContent: { degrees: 7, wind: 3 } }))
await server.connect(new StdioServerTransport())
JS
cat >ask.mjs <<'JS'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

// Without a client library: what the server says and what it sends.
const server = spawn(process.execPath, ['server.mjs'], { stdio: ['pipe', 'pipe', 'ignore'] })
const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
const ask = async (id, method, params) => {
  server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
  for (;;) { const message = JSON.parse((await lines.next()).value); if (message.id === id) return message.result }
}
await ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'finding', version: '1' } })
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
const schema = (await ask(2, 'tools/list', {})).tools[0].outputSchema
const result = await ask(3, 'tools/call', { name: 'now', arguments: {} })
server.stdin.end()

// With the client of the same project.
const client = new Client({ name: 'finding', version: '1' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.mjs'] }))
await client.listTools()
const client_says = await client.callTool({ name: 'now', arguments: {} }).then(() => 'accepted', (error) => error.message)
await client.close()

console.log('expected: { degrees: 7 }, or an error of the server')
console.log('seen:     schema forbids more:', schema.additionalProperties === false, '| isError:', result.isError ?? false,
  '| sent:', JSON.stringify(result.structuredContent), '| client:', client_says)
const stated = schema.additionalProperties === false && !result.isError && result.structuredContent.wind === 3 && /additional properties/.test(client_says)
process.exit(stated ? 0 : 1)
JS
echo "version:  @modelcontextprotocol/server and client 2.4.0"
timeout 150 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
