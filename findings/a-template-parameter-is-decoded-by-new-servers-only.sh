#!/usr/bin/env bash
# What: the same server with a resource template `note://lists/{name}`, on mcp 1.30.0 and on mcp 2.3.0.
# Guess: both hand the function the decoded name, as every web framework does; or neither does.
# Seen: 1.30.0 hands over `Milk%20and%20tea`, whether the client asked for `note://lists/Milk%20and%20tea` or for `note://lists/Milk and tea`.
#   2.3.0 hands over `Milk and tea` for both.
# Why it matters: an update of the library changes which notes are found, although addresses, server and client stay the same. A hub
#   that encodes or decodes addresses in between is right for one of them only.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for version in 1.30.0 2.3.0; do
  { python3 -m venv "$version" && "$version/bin/pip" install -q --disable-pip-version-check "mcp==$version"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done

cat >server.py <<'PY'
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("notes")

@server.resource("note://lists/{name}")
def note(name: str) -> str:
    return name

server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys

def names(python):
    """What the function gets for an encoded and for a plain address."""
    server = subprocess.Popen([python, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def ask(number, method, params):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())["result"]
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
    found = [ask(number, "resources/read", {"uri": f"note://lists/{name}"})["contents"][0]["text"]
             for number, name in enumerate(["Milk%20and%20tea", "Milk and tea"], 2)]
    server.stdin.close()
    server.wait(20)
    return found

seen = {version: names(f"{version}/bin/python") for version in ("1.30.0", "2.3.0")}
print("expected: both decode, or neither does")
print("seen (encoded, plain):", seen)
sys.exit(seen != {"1.30.0": ["Milk%20and%20tea", "Milk%20and%20tea"], "2.3.0": ["Milk and tea", "Milk and tea"]})
PY
echo "version:  mcp 1.30.0 and 2.3.0"
timeout 120 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
