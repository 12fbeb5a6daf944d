#!/usr/bin/env bash
# What: a program with the OAuth client of mcp 2.3.0 keeps its tokens in files. The access token is out of date, the refresh token is good; once the
#   program has run on meanwhile, once it was started again.
# Guess: both times the client exchanges the refresh token, and nobody notices.
# Seen: the running program does so. The one that was started again sends the old token, is answered 401, and sends the person to the sign-in page,
#   with the refresh token in its hand: when a token ends is kept in memory only, and a 401 leads to a new sign-in.
# Why it matters: programs that are started by the task, as agents are, ask for a new sign-in at nearly every start; where no person is there, they
#   fail. A hub that keeps the tokens of hosted servers has to store the time at which they end, and to refresh after a 401.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${server:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
"""An MCP server of 2025-11-25 that is also its own authorization server, on a free port, which it writes to the file `port`. Its tokens last four seconds."""
import http.server, json, time, urllib.parse
ends = {}
def note(text): print(text, file=open("asked.txt", "a"))
class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def say(self, code, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)
    def root(self): return f"http://127.0.0.1:{self.server.server_port}"
    def do_DELETE(self): self.say(200)
    def do_GET(self):
        if "oauth-protected-resource" in self.path: return self.say(200, {"resource": self.root() + "/mcp", "authorization_servers": [self.root()]})
        if "oauth-authorization-server" in self.path:
            points = {name + "_endpoint": f"{self.root()}/{name}" for name in ("authorization", "token", "registration")}
            return self.say(200, {"issuer": self.root(), **points, "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
                                  "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"]})
        if not self.path.startswith("/authorization"): return self.say(405)
        note("sign-in")
        asked = {name: value[0] for name, value in urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).items()}
        self.say(302, Location=asked["redirect_uri"] + "?" + urllib.parse.urlencode({"code": "once", "state": asked["state"]}))
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/registration": return self.say(201, {**json.loads(body), "client_id": "finding"})
        if self.path == "/token":
            if b"grant_type=refresh_token" in body: note("refresh")
            token = f"token{len(ends)}"
            ends[token] = time.time() + 4
            return self.say(200, {"access_token": token, "token_type": "Bearer", "expires_in": 4, "refresh_token": "good"})
        if ends.get((self.headers["Authorization"] or "").removeprefix("Bearer "), 0) < time.time():
            return self.say(401, {}, WWW_Authenticate=f'Bearer resource_metadata="{self.root()}/.well-known/oauth-protected-resource"')
        request = json.loads(body)
        if "id" not in request: return self.say(202)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        answer = {"result": hello if request["method"] == "initialize" else {"tools": []}}
        self.say(200, {"jsonrpc": "2.0", "id": request["id"], **answer})

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
open("port", "w").write(str(server.server_port))
server.serve_forever()
PY
cat >ask.py <<'PY'
"""Lists the tools as often as the argument says, six seconds apart. The person of this program follows the address at once."""
import asyncio, pathlib, sys, urllib.error, urllib.parse, urllib.request
import httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

class Files:
    async def get_tokens(self): return OAuthToken.model_validate_json(tokens.read_text()) if tokens.exists() else None
    async def set_tokens(self, value): tokens.write_text(value.model_dump_json())
    async def get_client_info(self): return OAuthClientInformationFull.model_validate_json(client.read_text()) if client.exists() else None
    async def set_client_info(self, value): client.write_text(value.model_dump_json())

class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None

async def person(address):
    try:
        urllib.request.build_opener(Stay, urllib.request.ProxyHandler({})).open(address)
    except urllib.error.HTTPError as answer:
        came.append(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query)))

async def came_back(): return AuthorizationCodeResult(code=came[-1]["code"], state=came[-1]["state"])

async def main():
    address = f"http://127.0.0.1:{open('port').read()}/mcp"
    wanted = OAuthClientMetadata(client_name="finding", redirect_uris=["http://127.0.0.1:1/callback"], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(address, wanted, Files(), person, came_back)
    async with httpx2.AsyncClient(auth=auth, trust_env=False) as http, streamable_http_client(address, http_client=http) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        for number in range(int(sys.argv[1])):
            await asyncio.sleep(6 * bool(number))
            await session.list_tools()

tokens, client, came = pathlib.Path("tokens.json"), pathlib.Path("client.json"), []
asyncio.run(main())
PY
python3 server.py 2>server.log &
server=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
timeout 60 venv/bin/python ask.py 2 >ask.log 2>&1 || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
running=$(paste -sd ' ' asked.txt)
rm asked.txt
sleep 5
timeout 60 venv/bin/python ask.py 1 >ask.log 2>&1 || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
echo "version:  mcp 2.3.0"
echo "expected: first program: sign-in refresh; started again: refresh"
echo "seen:     first program: $running; started again: $(paste -sd ' ' asked.txt), with $(grep -o '"refresh_token":"good"' tokens.json) in its file"
[ "$running" = "sign-in refresh" ] && [ "$(paste -sd ' ' asked.txt)" = "sign-in" ] || { echo "changed"; exit 1; }
