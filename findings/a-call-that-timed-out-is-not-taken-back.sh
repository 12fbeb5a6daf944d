#!/usr/bin/env bash
# What: a call takes longer than the client's own timeout; clients of mcp 1.30.0, which many frameworks still pin, and of mcp 2.3.0.
# Guess: a client that gives up takes the call back by `notifications/cancelled`, as the protocol asks of it.
# Seen: 1.30.0 sends nothing, neither after its own timeout nor when the program drops the call. 2.3.0 sends it both times, with the reason.
# Why it matters: behind such a client a call runs to its end, holds its place and its server, and a question to the person stays open, for an
#   answer that no one takes. A hub cannot tell a client that waits from one that has gone on.
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
"""An MCP server of 2025-11-25 whose tool takes three seconds; writes down the methods it is asked for."""
import json, sys, threading
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    print(request["method"], file=open(sys.argv[1], "a"))
    if request["method"] == "tools/call":
        answer = {"id": request["id"], "result": {"content": [{"type": "text", "text": "late"}]}}
        threading.Timer(3, say, [answer]).start()
    elif "id" in request:
        result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
                  "tools/list": {"tools": [{"name": "slow", "inputSchema": {"type": "object", "properties": {}}}]}}[request["method"]]
        say({"id": request["id"], "result": result})
PY
cat >ask.py <<'PY'
import asyncio, datetime, sys
from importlib.metadata import version
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    name, second = sys.argv[1], 1 if version("mcp").startswith("2") else datetime.timedelta(seconds=1)
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py", name])) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.list_tools()
        gave_up = []
        for call in (session.call_tool("slow", {}, read_timeout_seconds=second), asyncio.wait_for(session.call_tool("slow", {}), 1)):
            try:
                await call
            except Exception as error:
                gave_up.append(type(error).__name__)
            await asyncio.sleep(1)
        await asyncio.sleep(3)
    asked = open(name).read().split()
    print(f"calls {asked.count('tools/call')}, given up {len(gave_up)}, taken back {asked.count('notifications/cancelled')}")

asyncio.run(main())
PY
for version in 1.30.0 2.3.0; do
  timeout 60 "$version/bin/python" ask.py "$version.txt" >"$version.out" 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
done
echo "version:  mcp 1.30.0 and 2.3.0"
echo "expected: every call that is given up is taken back"
echo "seen:     1.30.0: $(cat 1.30.0.out)"
echo "seen:     2.3.0:  $(cat 2.3.0.out)"
[ "$(cat 1.30.0.out)" = "calls 2, given up 2, taken back 0" ] && [ "$(cat 2.3.0.out)" = "calls 2, given up 2, taken back 2" ] || { echo "changed"; exit 1; }
