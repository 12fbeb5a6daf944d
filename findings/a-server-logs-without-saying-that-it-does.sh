#!/usr/bin/env bash
# What: a tool written with mcp 2.3.0 writes log messages of "info" and "error" (`ctx.info`, `ctx.error`); a client asks for "error" only. The same with
#   1.30.0, and with fastmcp 4.2.3.
# Guess: who writes log messages declares `logging`, and a client can say from which level on it wants them.
# Seen: that holds for fastmcp. Both versions of mcp declare no `logging`, refuse the level with "Method not found", and send every message all the same.
# Why it matters: a client that goes by what is declared drops the messages; one that shows them cannot make the server quiet. A hub has to sort by level
#   itself, and to take messages that nobody announced.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for package in mcp==1.30.0 mcp==2.3.0 fastmcp==4.2.3; do
  { python3 -m venv "$package" && "$package/bin/pip" install -q --disable-pip-version-check "$package"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done

cat >server.py <<'PY'
import sys
if sys.argv[1] == "mcp==1.30.0": from mcp.server.fastmcp import Context, FastMCP as Server
elif sys.argv[1] == "mcp==2.3.0": from mcp.server.mcpserver import Context, MCPServer as Server
else: from fastmcp import Context, FastMCP as Server
server = Server("mail")
@server.tool()
async def send(ctx: Context) -> str:
    await ctx.info("looking for the account")
    await ctx.error("the account is locked")
    return "not sent"
server.run()
PY
cat >ask.py <<'PY'
import json, subprocess, sys
seen = {}
for package in ("mcp==1.30.0", "mcp==2.3.0", "fastmcp==4.2.3"):
    came = []
    server = subprocess.Popen([f"{package}/bin/python", "server.py", package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def ask(number, method, params):
        send(id=number, method=method, params=params)
        while (message := json.loads(server.stdout.readline())).get("id") != number:
            if message.get("method") == "notifications/message": came.append(message["params"]["level"])
        return message
    hello = ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    send(method="notifications/initialized")
    level = ask(2, "logging/setLevel", {"level": "error"})
    ask(3, "tools/call", {"name": "send", "arguments": {}})
    server.stdin.close()
    server.wait(20)
    seen[package] = "logging" in hello["result"]["capabilities"], level.get("error", {}).get("message", "taken"), came
print("expected: declared, level taken, messages ['error']")
for package, (declared, level, came) in seen.items(): print(f"seen:     {package}: {'' if declared else 'not '}declared, level {level}, messages {came}")
loud = (False, "Method not found", ["info", "error"])
sys.exit(list(seen.values()) != [loud, loud, (True, "taken", ["error"])])
PY
echo "version:  mcp 1.30.0 and 2.3.0, fastmcp 4.2.3"
timeout 120 python3 ask.py 2>ask.log || { tail -n 3 ask.log server.log; echo "changed"; exit 1; }
