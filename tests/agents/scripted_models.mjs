// A stand-in for the models behind several agents, in the words of three model APIs: Responses (Codex), Gemini, and
// chat completions (opencode, Qwen Code). It calls one tool once and then says what came back.
//
// Standard input: {"tool", "arguments"}; `tool` is the end of the name under which the agent offers it.
// Standard output: {"url"}, one line, when it listens.

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const plan = JSON.parse(await text(process.stdin))
const isMeant = (name) => name?.endsWith(plan.tool)

/** Codex: tools may stand in namespaces, and need not be listed to be called. */
function responses({ input = [] }) {
  const output = input.find(({ type }) => type === 'function_call_output')
  const item = output
    ? {
        type: 'message', id: 'm', role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text: JSON.stringify(output.output), annotations: [] }],
      }
    : {
        type: 'function_call', id: 'f', call_id: 'call', name: plan.tool, namespace: 'mcp__satchel',
        arguments: JSON.stringify(plan.arguments), status: 'completed',
      }
  const usage = {
    input_tokens: 1, output_tokens: 1, total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 },
  }
  return [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item], usage } },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function gemini({ contents = [], tools = [] }) {
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name))
  const came = contents.flatMap(({ parts }) => parts).find(({ functionResponse }) => functionResponse)
  const name = names.find(isMeant)
  const part = name && !came ? { functionCall: { name, args: plan.arguments } } : { text: JSON.stringify(came ?? null) }
  const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }]
  return { candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }
}

// Qwen Code hides tools of servers: the model looks at one first, then calls it through another.
const hidden = [
  ['tool_search', { query: `select:mcp__satchel__${plan.tool}` }],
  ['tool_call', { name: `mcp__satchel__${plan.tool}`, arguments: plan.arguments }],
]

function chat({ messages = [], tools = [] }) {
  const names = tools.map((tool) => tool.function?.name)
  const heard = messages.filter(({ role }) => role === 'tool')
  const next = names.some(isMeant) ? [[names.find(isMeant), plan.arguments]] : names.includes('tool_search') ? hidden : []
  const call = next[heard.length]
  const delta = call
    ? { tool_calls: [{ index: 0, id: `call${heard.length}`, type: 'function', function: { name: call[0], arguments: JSON.stringify(call[1]) } }] }
    : { content: JSON.stringify(heard.at(-1)?.content ?? null) }
  const chunk = (delta, finish_reason) => ({
    id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }],
  })
  const last = chunk({}, call ? 'tool_calls' : 'stop')
  last.usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const events = [chunk({ role: 'assistant', ...delta }, null), last].map((event) => JSON.stringify(event))
  return [...events, '[DONE]'].map((data) => `data: ${data}\n\n`)
}

const server = createServer(async (request, response) => {
  const asked = JSON.parse((await text(request)) || '{}')
  const stream = (events) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.join(''))
  }
  const json = (value) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
  if (request.url.endsWith('/responses')) stream(responses(asked))
  else if (request.url.includes(':streamGenerateContent')) stream([`data: ${JSON.stringify(gemini(asked))}\r\n\r\n`])
  else if (request.url.includes(':generateContent')) json(gemini(asked))
  else if (request.url.endsWith('/chat/completions')) stream(chat(asked))
  else json({ object: 'list', data: [], models: [], totalTokens: 1 })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
})
