// A stand-in for the model behind Claude Code: it calls the tools it was told to, then says what came back.
//
// Standard input: {"calls": [{"name", "arguments"}]}; `name` as the client offers the tool.
// Standard output: {"url"}, one line, when it listens.
// Its last words are JSON: {"tools": names of the offered MCP tools, "results": what each call returned}.

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const { calls } = JSON.parse(await text(process.stdin))

/** What the model says next, given the conversation so far. */
function turn({ messages = [], tools = [] }) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const results = blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => content)
  const offered = tools.map(({ name }) => name).filter((name) => name?.startsWith('mcp__'))
  const call = calls[results.length]
  // Without tools it is asked for something else, such as a title for the conversation.
  return call && offered.includes(call.name)
    ? { type: 'tool_use', id: `call_${results.length}`, name: call.name, input: call.arguments }
    : { type: 'text', text: JSON.stringify({ tools: offered, results }) }
}

/** The events of one streamed message with one block. */
function* events(model, block) {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'message', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
  const [empty, delta] =
    block.type === 'text'
      ? [{ ...block, text: '' }, { type: 'text_delta', text: block.text }]
      : [{ ...block, input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  const stop_reason = block.type === 'text' ? 'end_turn' : 'tool_use'
  yield { type: 'message_start', message }
  yield { type: 'content_block_start', index: 0, content_block: empty }
  yield { type: 'content_block_delta', index: 0, delta }
  yield { type: 'content_block_stop', index: 0 }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }
  yield { type: 'message_stop' }
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  if (request.method !== 'POST' || !request.url.startsWith('/v1/messages?')) {
    response.writeHead(404).end()
    return
  }
  const asked = JSON.parse(body)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events(asked.model, turn(asked))) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
})
