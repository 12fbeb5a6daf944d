#!/usr/bin/env bash
# What: a tool that does its work and asks the person in between (`context.elicit`), written with fastmcp 4.2.3 and with mcp 2.3.0, called by
#   a client that can answer forms.
# Guess: 2026-07-28 has answers that ask for input, so the library turns the question into one; or the server does not offer the tool.
# Seen: with 2025-11-25 the question arrives. With 2026-07-28 the call fails at the question, after what stood before it was done:
#   fastmcp answers with a tool error, mcp with the JSON-RPC error -32600, as if the client's request were wrong.
# Why it matters: the server offers both revisions and lists the same tools in both. A client that prefers the newer one gets
#   half of the work and an error that names neither the revision to use nor what was done.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import sys
from pydantic import BaseModel
if sys.argv[1] == "fastmcp":
    from fastmcp import Context, FastMCP
    server, run = FastMCP("orders"), lambda: server.run(show_banner=False)
else:
    from mcp.server.mcpserver import Context, MCPServer
    server, run = MCPServer("orders"), lambda: server.run()
done = []

class Answer(BaseModel):
    sure: bool

@server.tool()
async def order(context: Context) -> str:
    done.append("reserved")
    answer = await context.elicit("Order it?", Answer)
    return answer.action

@server.tool()
def history() -> str:
    return ",".join(done)

run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientInfo": {"name": "finding", "version": "1"}, PREFIX + "clientCapabilities": {"elicitation": {"form": {}}}}

class Server:
    def __init__(self, library):
        self.process = subprocess.Popen([sys.executable, "server.py", library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
        self.number, self.questions = 0, 0

    def send(self, **message):
        print(json.dumps({"jsonrpc": "2.0", **message}), file=self.process.stdin, flush=True)

    def ask(self, method, params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while (message := json.loads(self.process.stdout.readline())).get("id") != self.number or "method" in message:
            if message.get("method") == "elicitation/create":
                self.questions += 1
                self.send(id=message["id"], result={"action": "accept", "content": {"sure": True}})
        return message

def said(answer):
    """The text of an answer, and how it failed."""
    if "error" in answer:
        return f"error {answer['error']['code']}"
    kind = "tool error" if answer["result"].get("isError") else "result"
    return f"{kind}: {answer['result']['content'][0]['text']}" if kind == "result" else kind

def play(library, revision):
    server = Server(library)
    meta = {}
    if revision == "2026-07-28":
        meta = {"_meta": META}
        server.ask("server/discover", meta)
    else:
        server.ask("initialize", {"protocolVersion": revision, "capabilities": {"elicitation": {"form": {}}}, "clientInfo": {"name": "finding", "version": "1"}})
        server.send(method="notifications/initialized")
    ordered = said(server.ask("tools/call", {"name": "order", "arguments": {}, **meta}))
    history = said(server.ask("tools/call", {"name": "history", "arguments": {}, **meta}))
    server.process.kill()
    return ordered, server.questions, history

seen = {(library, revision): play(library, revision) for library in ("fastmcp", "mcp") for revision in ("2025-11-25", "2026-07-28")}
print("expected: one question, then result: accept")
for (library, revision), (ordered, questions, history) in seen.items():
    print(f"seen:     {library}, {revision}: {questions} questions, {ordered}; then {history}")
old = ("result: accept", 1, "result: reserved")
sys.exit(seen != {("fastmcp", "2025-11-25"): old, ("fastmcp", "2026-07-28"): ("tool error", 0, "result: reserved"),
                  ("mcp", "2025-11-25"): old, ("mcp", "2026-07-28"): ("error -32600", 0, "result: reserved")})
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 120 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
