#!/usr/bin/env bash
# What: @mastra/mcp 0.14.5 and 2.0.0 keep a connection to a server over HTTP that is restarted: it answers 404 to the old session, as the
#   protocol asks, and would open a new one.
# Guess: both open a new session after the 404, as the protocol asks of clients; the newer release at least as well as the older.
# Seen: 0.14.5 opens a new session and repeats the call. 2.0.0 does not: this call and every later one fail until the program is started
#   again.
# Why it matters: each restart or update of a hub ends the sessions of such clients for good, unless the hub takes an unknown session of a known
#   client as a new one. A newer version in a table of clients is not a better one.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for version in 0.14.5 2.0.0; do
  npm install --prefix "$work/$version" --no-audit --no-fund --loglevel error "@mastra/mcp@$version" >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done

cat >ask.mjs <<'JS'
import http from 'node:http'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

let session = 'first', opened = 0
const ANSWERS = {
  'tools/list': { tools: [{ name: 'count', description: 'Count.', inputSchema: { type: 'object', properties: {} } }] },
  'tools/call': { content: [{ type: 'text', text: '1' }] },
}
/** An MCP server of 2025-11-25 over HTTP with one session. */
const server = http.createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  const message = body ? JSON.parse(body) : {}
  const send = (status, answer) => response.writeHead(status, { 'content-type': 'application/json', 'mcp-session-id': session }).end(answer && JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...answer }))
  if (request.method !== 'POST') return send(405)
  if (message.method === 'initialize') {
    opened += 1
    return send(200, { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } })
  }
  if (request.headers['mcp-session-id'] === undefined) return send(400, { error: { code: -32600, message: 'a session is needed' } })
  if (request.headers['mcp-session-id'] !== session) return send(404, { error: { code: -32001, message: 'session not found' } })
  if (message.id === undefined) return send(202)
  const result = ANSWERS[message.method]
  send(200, result ? { result } : { error: { code: -32601, message: 'unknown method' } })
})
await new Promise((ready) => server.listen(0, '127.0.0.1', ready))

const { MCPClient } = await import(pathToFileURL(createRequire(`${process.cwd()}/${process.argv[2]}/x.js`).resolve('@mastra/mcp')))
const client = new MCPClient({ servers: { s: { url: new URL(`http://127.0.0.1:${server.address().port}/mcp`) } } })
const tool = (await (client.listTools?.() ?? client.getTools())).s_count
const call = () => tool.execute({ context: {} }, {}).then(() => 'ok', () => 'failed')
const seen = [await call()]
session = 'second' // The restart.
for (let i = 0; i < 3; i++) seen.push(await call())
console.log(`result ${seen.join(' ')} | sessions opened: ${opened}`)
process.exit(0)
JS
for version in 0.14.5 2.0.0; do
  timeout 75 node ask.mjs "$version" 2>/dev/null | grep '^result' >"$version.txt" || { echo "changed: $version gave no result"; exit 1; }
done
echo "version:  @mastra/mcp 0.14.5 and 2.0.0"
echo "expected: ok ok ok ok with both (one call before the restart, three after it)"
echo "seen:     0.14.5 $(cat 0.14.5.txt)"
echo "seen:     2.0.0  $(cat 2.0.0.txt)"
grep -q 'result ok ok ok ok | sessions opened: 2' 0.14.5.txt && grep -q 'result ok failed failed failed | sessions opened: 1' 2.0.0.txt || { echo "changed"; exit 1; }
