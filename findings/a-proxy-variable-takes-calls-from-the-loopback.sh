#!/usr/bin/env bash
# What: the client of mcp 2.3.0 reaches a server at 127.0.0.1 while HTTP_PROXY is set, as in many companies.
# Guess: addresses of the loopback never go through a proxy; at least not with NO_PROXY=localhost.
# Seen: the request goes to the proxy, with NO_PROXY unset and with NO_PROXY=localhost alike; only NO_PROXY=127.0.0.1 leads to the server. What
#   the user reads is "Server returned an error response". (mcp 1.30.0 does the same; Node 20 ignores the variable.)
# Why it matters: a local hub looks dead to Python clients and alive to others on the same computer, the proxy sees the client's
#   token, and the hub sees no request it could explain.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.py <<'PY'
import asyncio, http.server, json, os, sys, threading
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

reached = []

class Hub(http.server.BaseHTTPRequestHandler):
    """An MCP server of 2025-11-25 over HTTP."""
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reached.append("hub")
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
        body = {"result": result} if request["method"] == "initialize" else {"error": {"code": -32601, "message": "unknown method"}}
        text = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **body}).encode()
        self.send_response(200 if "id" in request else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text) if "id" in request else 0))
        self.end_headers()
        if "id" in request:
            self.wfile.write(text)
    def do_GET(self): self.send_error(405)
    def log_message(self, *_): pass

class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy that knows nothing of this computer's loopback."""
    def do_POST(self):
        reached.append("proxy")
        self.send_error(502)
    do_GET = do_POST
    def log_message(self, *_): pass

def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"

async def first_reached(exception):
    """Who gets the first request, and what the user reads."""
    reached.clear()
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = exception
    try:
        async with streamable_http_client(hub + "/mcp") as streams, ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            return reached[0], "connected"
    except BaseException as error:
        while getattr(error, "exceptions", None):
            error = error.exceptions[0]
        return reached[0], str(error)

hub, proxy = serve(Hub), serve(Proxy)
os.environ["HTTP_PROXY"] = os.environ["http_proxy"] = proxy
seen = {exception: asyncio.run(first_reached(exception)) for exception in ("", "localhost", "127.0.0.1")}
print("expected: the server each time")
for exception, (who, says) in seen.items():
    print(f"seen:     NO_PROXY={exception or '(empty)'}: {who}, {says}")
sys.exit([who for who, _ in seen.values()] != ["proxy", "proxy", "hub"])
PY
echo "version:  mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
