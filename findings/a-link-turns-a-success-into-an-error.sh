#!/usr/bin/env bash
# What: a tool returns a text and a link to a resource; the model is asked through the tool runner of the anthropic library 2.10.0 (mcp 2.3.0),
#   with `async_mcp_tool`, its own adapter for MCP.
# Guess: the text reaches the model, and the link as a text or not at all.
# Seen: the tool has run; the model is told `is_error: true` with the words "Unsupported MCP content type: resource_link" and no byte of the text.
# Why it matters: a model that reads an error tries again, so what the tool did is done twice. What sits between them has to
#   turn links into text for this client.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check anthropic==2.10.0 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult
server = MCPServer("reports")

@server.tool(structured_output=False)
def report() -> CallToolResult:
    open("ran", "a").write("x")
    content = [{"type": "text", "text": "Sales rose."}, {"type": "resource_link", "uri": "reports://2026/autumn", "name": "autumn"}]
    return CallToolResult.model_validate({"content": content})

server.run()
PY
cat >ask.py <<'PY'
import asyncio, http.server, json, sys, threading
from anthropic import AsyncAnthropic
from anthropic.lib.tools.mcp import async_mcp_tool
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
requests = []

class Model(http.server.BaseHTTPRequestHandler):
    """Asks for one call, then ends its turn."""
    def log_message(self, *_): pass
    def do_POST(self):
        requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        content = {"type": "tool_use", "id": "call", "name": "report", "input": {}} if len(requests) == 1 else {"type": "text", "text": "Done."}
        reason = "tool_use" if len(requests) == 1 else "end_turn"
        body = json.dumps({"id": "m", "type": "message", "role": "assistant", "model": "none", "content": [content], "stop_reason": reason,
                           "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

async def main(port):
    server = StdioServerParameters(command=sys.executable, args=["server.py"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [async_mcp_tool(tool, session) for tool in (await session.list_tools()).tools]
        client = AsyncAnthropic(api_key="none", base_url=f"http://127.0.0.1:{port}")
        runner = client.beta.messages.tool_runner(model="none", max_tokens=99, tools=tools, messages=[{"role": "user", "content": "Report."}])
        async for _ in runner: pass

model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
asyncio.run(main(model.server_port))
result = requests[1]["messages"][-1]["content"][0]
print("expected: Sales rose.")
print(f"seen:     ran {len(open('ran').read())} time; is_error {result.get('is_error')}: {json.dumps(result['content'])}")
sys.exit(not (result.get("is_error") and "resource_link" in str(result["content"]) and "Sales" not in str(result["content"])))
PY
echo "version:  anthropic 2.10.0, mcp 2.3.0"
timeout 100 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
