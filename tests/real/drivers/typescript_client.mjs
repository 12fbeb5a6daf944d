// Drives an MCP endpoint with the official TypeScript client of the second generation.
//
// Standard input: {"url", "headers", "mode", "calls": [{"name", "arguments"}]}; `mode` as its version negotiation knows it.
// Standard output: {"revision", "server", "tools", "results"}.

import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const plan = JSON.parse(await text(process.stdin))
const transport = new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: plan.headers } })
const client = new Client({ name: 'typescript-client', version: '1' }, { versionNegotiation: { mode: plan.mode } })
await client.connect(transport)

const { tools } = await client.listTools()
const results = []
for (const call of plan.calls) results.push(await client.callTool(call))
console.log(
  JSON.stringify({
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    results,
  }),
)
await client.close()
