#!/usr/bin/env bash
# What: `fastmcp install cursor server.py` of fastmcp 4.2.3, in a folder where the server was written and tested.
# Guess: the entry runs the library that installed it: its own interpreter, or `fastmcp==4.2.3`.
# Seen: the entry runs `uv run --with fastmcp`, with no version, so the newest one at each first start on a computer; packages that the server
#   itself needs are not in it. Beside that stand keys with the value null, `type`, `cwd` and `timeout` among them.
# Why it matters: the same entry is another program next month. And what reads the file has to
#   take null as "not there": a `type` of null is no transport.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir home project
cat >server.py <<'PY'
from fastmcp import FastMCP
server = FastMCP("garden")

@server.tool
def water() -> str:
    return "watered"
PY
env HOME="$work/home" timeout 100 venv/bin/fastmcp install cursor server.py --workspace project >add.log 2>&1 </dev/null
cat >read.py <<'PY'
import json, sys
entry = json.load(open("project/.cursor/mcp.json"))["mcpServers"]["garden"]
nulls = [key for key, value in entry.items() if value is None]
words = [entry["command"], *entry["args"][:-1]]
print("expected: a version of fastmcp, and no null")
print(f"seen:     {' '.join(words)} …; null: {' '.join(nulls)}")
sys.exit(not (words == ["uv", "run", "--with", "fastmcp", "fastmcp", "run"] and {"type", "timeout", "cwd"} <= set(nulls)))
PY
echo "version:  fastmcp 4.2.3"
python3 read.py 2>read.log || { tail -n 3 read.log add.log; echo "changed"; exit 1; }
