#!/usr/bin/env bash
# What: a server that offers skills (fastmcp 4.2.3, mcp 2.3.0) on standard input and output.
# Guess: the extension is declared whichever way the client opens the connection, or `skills/list` at least answers.
# Seen: the first message fixes the family of revisions for the life of the process. Opened by `server/discover`, the server declares
#   `io.modelcontextprotocol/skills` and lists the skill. Opened by `initialize`, it declares no extensions at all and `skills/list`
#   is not available; a `server/discover` sent later is refused as well.
# Why it matters: a hub that opens every server by `initialize`, which all servers understand, never learns that skills exist.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
from fastmcp import FastMCP
from fastmcp.skills import Skill
from fastmcp.skills.provider import SkillCatalogProvider
server = FastMCP("greeter")
server.add_provider(SkillCatalogProvider([Skill(name="greeting", description="How to greet.", instructions="Say hello.")]))
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys
ABOUT = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
         "io.modelcontextprotocol/clientInfo": {"name": "finding", "version": "1"}}
OLD = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}

def talk(*requests):
    """Sends the requests to a new process, one after another; returns the answers."""
    server = subprocess.Popen([sys.executable, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    answers = []
    for number, (method, params) in enumerate(requests):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
        answers.append(json.loads(server.stdout.readline()))
        if method == "initialize":
            print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
    server.stdin.close()
    server.wait(20)
    return answers

def skills(answer): return len(answer["result"]["skills"]) if "result" in answer else answer["error"]["code"]
def declared(answer): return "io.modelcontextprotocol/skills" in answer.get("result", {}).get("capabilities", {}).get("extensions", {})

new = talk(("server/discover", {"_meta": ABOUT}), ("skills/list", {"_meta": ABOUT}))
old = talk(("initialize", OLD), ("skills/list", {}), ("server/discover", {"_meta": ABOUT}))
seen = {"discover first": (declared(new[0]), skills(new[1])), "initialize first": (declared(old[0]), skills(old[1])),
        "discover after initialize": "refused" if "error" in old[2] else "answered"}
print("expected: skills are declared, or at least listed, both ways")
print("seen (declared, skills or error):", seen)
sys.exit(seen != {"discover first": (True, 1), "initialize first": (False, -32601), "discover after initialize": "refused"})
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
