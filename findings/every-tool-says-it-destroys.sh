#!/usr/bin/env bash
# What: @negokaz/excel-mcp-server 0.12.0, a program in Go, says of its tools whether they read or destroy.
# Guess: reading a sheet is marked as reading, or it has no marks, because its author set none.
# Seen: all six tools are marked as not reading, destructive, not repeatable and open to the world, also those that only read or describe. The
#   library writes the protocol's assumptions about missing marks into the list as if the author had said so.
# Why it matters: "destructive" stated by a server cannot be told from "destructive" that was assumed. A hub that asks a person before each
#   destructive call asks before each call of such a server, until people stop reading.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @negokaz/excel-mcp-server@0.12.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.py <<'PY'
import json, subprocess, sys
server = subprocess.Popen(["node_modules/.bin/excel-mcp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
def ask(number, method, params):
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
    while (message := json.loads(server.stdout.readline())).get("id") != number: pass
    return message["result"]
ask(1, "initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=server.stdin, flush=True)
tools = ask(2, "tools/list", {})["tools"]
server.stdin.close()
server.wait(20)
MARKS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
same = [tool["name"] for tool in tools if tool.get("annotations") == MARKS]
print("expected: excel_read_sheet and excel_describe_sheets marked as reading, or not marked")
print(f"seen:     {len(same)} of {len(tools)} tools with the marks {MARKS}:", ", ".join(same))
sys.exit(not (len(same) == len(tools) and {"excel_read_sheet", "excel_describe_sheets"} <= set(same)))
PY
echo "version:  @negokaz/excel-mcp-server 0.12.0"
timeout 120 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
