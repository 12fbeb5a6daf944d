// Watches the tools of an MCP endpoint with the official TypeScript client, as a program does that shows them.
//
// Arguments: where the client is installed, {"url", "headers", "mode"}; `mode` as its version negotiation knows it.
// Standard output: a line for the first list and for each list after that: {"revision", "tools"}.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [, , root, given] = process.argv
const found = createRequire(pathToFileURL(`${root}/`)).resolve('@modelcontextprotocol/client')
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(found))
const { url, headers, mode } = JSON.parse(given)

const say = (tools) => console.log(JSON.stringify({ revision: client.getNegotiatedProtocolVersion(), tools: tools.map((tool) => tool.name) }))
const onChanged = (error, tools) => (error ? console.error(error) : say(tools))
const client = new Client({ name: 'watching', version: '1' }, { versionNegotiation: { mode }, listChanged: { tools: { onChanged } } })
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
say((await client.listTools()).tools)
