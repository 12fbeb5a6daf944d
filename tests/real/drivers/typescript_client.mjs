// Drives an MCP endpoint with the official TypeScript client of the second generation.
//
// Standard input: {"url", "headers", "mode", "calls": [{"name", "arguments"}], "browser"?}; `mode` as its version
// negotiation knows it. With a browser (a command), the client shows its user the pages it is asked to show.
// Standard output: {"revision", "server", "tools", "results"}.

import { execFile } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const plan = JSON.parse(await text(process.stdin))
const transport = new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: plan.headers } })
const shows = plan.browser ? { capabilities: { elicitation: { url: {} } } } : {}
const client = new Client({ name: 'typescript-client', version: '1' }, { versionNegotiation: { mode: plan.mode }, ...shows })
if (plan.browser) {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    await visit(plan.browser, params.url)
    return { action: 'accept' }
  })
}
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

// What a person does: reads our page, follows its link, agrees there.
async function visit([program, ...first], page) {
  const shown = await (await fetch(page)).text()
  const link = shown.match(/href="([^"]*)"/)?.[1].replaceAll('&amp;', '&')
  if (!link) throw new Error(`no link in ${shown}`)
  await promisify(execFile)(program, [...first, link])
}
