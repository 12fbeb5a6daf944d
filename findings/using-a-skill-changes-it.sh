#!/usr/bin/env bash
# What: a skill with two Python files, served by fastmcp 4.2.3 (mcp 2.3.0) with the skills extension; one file imports the other. The script is run once
#   where it lies, as the skill's text says.
# Guess: the manifest lists what the author wrote: files that start with a dot and caches are left out, as every packer does.
# Seen: it lists every file of the folder, `.draft` and editors' backups included. Running the script adds `scripts/__pycache__/helper….pyc`, so the
#   next `skills/list` has another manifest for the same skill.
# Why it matters: an approval is bound to the manifest with its digests, so a skill that was approved counts as changed because it was used. And what
#   is shown for approval contains files that no author meant to publish.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p skills/plants/scripts
printf -- '---\nname: plants\ndescription: Use it to count plants.\n---\nRun scripts/count.py.\n' >skills/plants/SKILL.md
echo 'PLANTS = 12' >skills/plants/scripts/helper.py
printf 'from helper import PLANTS\nprint(PLANTS)\n' >skills/plants/scripts/count.py
echo 'unfinished' >skills/plants/.draft
echo 'older' >skills/plants/SKILL.md~
cat >server.py <<'PY'
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP("garden")
server.add_provider(SkillsDirectoryProvider(["skills"]))
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, os, re, subprocess, sys
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientInfo": {"name": "finding", "version": "1"}, PREFIX + "clientCapabilities": {"extensions": {PREFIX + "skills": {}}}}

def files():
    """The manifest as a new client gets it."""
    server = subprocess.Popen([sys.executable, "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def ask(number, method):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}), file=server.stdin, flush=True)
        while (message := json.loads(server.stdout.readline())).get("id") != number: pass
        return message["result"]
    ask(1, "server/discover")
    skill = ask(2, "skills/list")["skills"][0]
    server.kill()
    return sorted(re.sub(r"\.cpython-\d+", "", entry["uri"].removeprefix("skill://plants/")) for entry in skill["resources"])

before = files()
environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
printed = subprocess.run([sys.executable, "skills/plants/scripts/count.py"], capture_output=True, text=True, env=environment).stdout.strip()
after = files()
print("expected: SKILL.md scripts/count.py scripts/helper.py, before and after")
print("seen:     before:", *before)
print(f"          the script printed {printed}; after:", *after)
written = [".draft", "SKILL.md", "SKILL.md~", "scripts/count.py", "scripts/helper.py"]
sys.exit(not (before == written and after == sorted([*written, "scripts/__pycache__/helper.pyc"])))
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 120 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
