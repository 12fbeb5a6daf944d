#!/usr/bin/env bash
# What: @modelcontextprotocol/server-everything 2026.8.31, asked for its tools by clients that declare different capabilities.
# Guess: the list is the server's; what a client can do matters when a tool asks for it.
# Seen: the list differs. A client without capabilities gets three tools fewer than one that declares sampling, elicitation and roots;
#   each capability brings the one tool that needs it.
# Why it matters: a hub that keeps one list for all clients serves the list of its own declaration. Approving "the tools of a server"
#   approves those of one declaration, and a change of what the hub declares looks like a change of the server.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server-everything@2026.8.31 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.py <<'PY'
import json, subprocess, sys, time

def tools(capabilities):
    server = subprocess.Popen(["node_modules/.bin/mcp-server-everything", "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def answer(number):
        while True:
            message = json.loads(server.stdout.readline())
            if message.get("method") == "roots/list":
                send({"id": message["id"], "result": {"roots": []}})
            elif message.get("id") == number and "method" not in message:
                return message["result"]
    send({"id": "open", "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "finding", "version": "1"}}})
    answer("open")
    send({"method": "notifications/initialized"})
    time.sleep(2)  # The server adds tools after it has heard of the client.
    send({"id": "list", "method": "tools/list", "params": {}})
    names = {tool["name"] for tool in answer("list")["tools"]}
    server.stdin.close()
    server.wait(20)
    return names

bare = tools({})
more = {name: sorted(tools({name: {}}) - bare) for name in ("sampling", "elicitation", "roots")}
print("expected: the same tools for all")
print(f"seen:     {len(bare)} tools without capabilities; besides:", more)
sys.exit(more != {"sampling": ["trigger-sampling-request"], "elicitation": ["trigger-elicitation-request"], "roots": ["get-roots-list"]})
PY
echo "version:  @modelcontextprotocol/server-everything 2026.8.31"
timeout 150 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
