#!/usr/bin/env bash
# What: a server reports progress three times and answers, all in one write; the client of @modelcontextprotocol/client 2.4.0 listens.
# Guess: messages are handled in the order they came in, so the program hears of all three before it has the answer.
# Seen: it hears of none of them, before or after. The answer is handled at once and takes the listener away; notifications are handled one turn
#   later. With a pause of 50 ms before the answer all three arrive. (sdk 1.32.2 does the same; mcp 2.3.0 hears all three.)
# Why it matters: a relay that hands messages on quickly makes progress disappear that a slow server's pauses would have shown: the last step, or all of
#   a short call. Order on the wire is not enough; a proxy built on this client loses them as well (mcp-proxy 6.7.19 does).
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/client@2.4.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 whose tool reports progress three times; pauses before the answer as its argument says."""
import json, sys, time
def text(message): return json.dumps({"jsonrpc": "2.0", **message}) + "\n"
def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "tools/call":
        token = request["params"]["_meta"]["progressToken"]
        reports = "".join(text({"method": "notifications/progress", "params": {"progressToken": token, "progress": n, "total": 3}}) for n in (1, 2, 3))
        answer = text({"id": request["id"], "result": {"content": [{"type": "text", "text": "done"}]}})
        pause = float(sys.argv[1])
        if pause:
            write(reports)
            time.sleep(pause)
            write(answer)
        else:
            write(reports + answer)
        continue
    result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}.get(request["method"])
    write(text({"id": request["id"], **({"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}})}))
PY
cat >ask.mjs <<'JS'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** How many of three reports the program hears of in each of three calls, half a second after the answer. */
const heard = async (pause) => {
  const client = new Client({ name: 'finding', version: '1' })
  await client.connect(new StdioClientTransport({ command: 'python3', args: ['server.py', pause] }))
  const counts = []
  for (let call = 0; call < 3; call++) {
    let count = 0
    await client.callTool({ name: 'work', arguments: {} }, { onprogress: () => { count += 1 } })
    await new Promise((later) => setTimeout(later, 500))
    counts.push(count)
  }
  await client.close()
  return counts.join(' ')
}
const seen = { 'one write': await heard('0'), 'a pause before the answer': await heard('0.05') }
console.log('expected: 3 3 3, both ways')
console.log('seen:    ', JSON.stringify(seen))
process.exit(seen['one write'] === '0 0 0' && seen['a pause before the answer'] === '3 3 3' ? 0 : 1)
JS
echo "version:  @modelcontextprotocol/client 2.4.0"
timeout 150 node ask.mjs 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
