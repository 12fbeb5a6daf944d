// Drives an MCP endpoint with the official TypeScript SDK of the first generation, which many clients still ship.
//
// Standard input: {"url", "headers", "calls": [{"name", "arguments"}]}.
// Standard output: {"revision", "server", "tools", "results"}.

import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const plan = JSON.parse(await text(process.stdin))
const transport = new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: plan.headers } })
const client = new Client({ name: 'typescript-sdk-v1', version: '1' })
await client.connect(transport)

const { tools } = await client.listTools()
const results = []
for (const call of plan.calls) results.push(await client.callTool(call))
console.log(
  JSON.stringify({
    revision: transport.protocolVersion,
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    results,
  }),
)
await transport.terminateSession()
await client.close()
