#!/usr/bin/env bash
# What: @ai-sdk/mcp 2.0.99 turns the schemas of tools into schemas for the model. One tool takes either an id or a name (`oneOf` at the top),
#   another takes free keys with texts (`additionalProperties` with a schema).
# Guess: schemas that the model's provider may not take are passed as they are, or the tool is left out.
# Seen: `properties: {}` and `additionalProperties: false` are written over what the server said. The first schema then allows no
#   arguments at all and still asks for one of two; the second allows none of the keys it is for. Nothing is logged.
# Why it matters: a model that keeps to the schema can never call the first tool. The tool looks well in every list of the hub.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @ai-sdk/mcp@2.0.99 ajv@8.17.1 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.mjs <<'JS'
import { createMCPClient } from '@ai-sdk/mcp'
import Ajv from 'ajv'
import http from 'node:http'

const either = { type: 'object', oneOf: [{ properties: { id: { type: 'integer' } }, required: ['id'] }, { properties: { name: { type: 'string' } }, required: ['name'] }] }
const labels = { type: 'object', additionalProperties: { type: 'string' } }
const ANSWERS = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
  'tools/list': { tools: [{ name: 'find', description: 'Find.', inputSchema: either }, { name: 'label', description: 'Label.', inputSchema: labels }] },
}
/** An MCP server of 2025-11-25 over HTTP. */
const server = http.createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  const message = body ? JSON.parse(body) : {}
  if (request.method !== 'POST') return response.writeHead(405).end()
  if (message.id === undefined) return response.writeHead(202).end()
  const result = ANSWERS[message.method]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(result ? { result } : { error: { code: -32601, message: 'unknown method' } }) }))
})
await new Promise((ready) => server.listen(0, '127.0.0.1', ready))

const client = await createMCPClient({ transport: { type: 'http', url: `http://127.0.0.1:${server.address().port}/mcp` } })
const tools = await client.tools()
const allows = (schema, value) => new Ajv({ strict: false }).compile(schema)(value)
const seen = {}
for (const [name, schema, value] of [['find', either, { id: 1 }], ['label', labels, { colour: 'red' }]])
  seen[name] = { server: allows(schema, value), model: allows(tools[name].inputSchema.jsonSchema, value) }
console.log('expected: what the server allows, the model may send')
console.log('seen:    ', JSON.stringify(seen))
console.log('          find for the model:', JSON.stringify(tools.find.inputSchema.jsonSchema))
process.exit(Object.values(seen).every(({ server, model }) => server && !model) ? 0 : 1)
JS
echo "version:  @ai-sdk/mcp 2.0.99"
timeout 150 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
