#!/usr/bin/env bash
# What: a folder of two skills, served by fastmcp 4.2.3. The frontmatter of one has `metadata: {updated: 2026-01-02}`, a date as YAML writes it.
# Guess: the date arrives as a text; or that skill is left out with a warning, and the other one is served.
# Seen: the provider of 4.2 ends the server before it starts: "frontmatter must contain only finite JSON values", at the end of a traceback. The
#   older provider, which it replaces and which is still there, serves both. With quotation marks around the date, the new one does as well.
# Why it matters: an update of the library, or one more skill in a folder, takes all tools of that server away. The reason is in
#   the last line of the traceback, which a hub has to show.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

skill() { mkdir -p "$1/$2" && printf -- '---\nname: %s\ndescription: Use it for %s.\nmetadata:\n  updated: %s\n---\nText.\n' "$2" "$2" "$3" >"$1/$2/SKILL.md"; }
skill dated plants '"2026-01-01"'
skill dated soil 2026-01-02
skill quoted plants '"2026-01-01"'
skill quoted soil '"2026-01-02"'
cat >server.py <<'PY'
import sys
from fastmcp import FastMCP
server = FastMCP("garden")

@server.tool
def water() -> str:
    return "watered"

if sys.argv[1] == "new":
    from fastmcp.skills.provider import SkillsDirectoryProvider
    server.add_provider(SkillsDirectoryProvider([sys.argv[2]]))
else:
    from fastmcp.server.providers.skills import SkillsDirectoryProvider
    server.add_provider(SkillsDirectoryProvider(sys.argv[2]))
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys

def play(provider, folder):
    """The skills that can be read, or the last line of what the server says when it ends."""
    log = open(f"{provider}-{folder}.log", "w+")
    server = subprocess.Popen([sys.executable, "server.py", provider, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    asked = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}},
             {"method": "notifications/initialized"}, {"id": 2, "method": "resources/list", "params": {}}]
    try:
        for message in asked: print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    except BrokenPipeError:
        pass
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == 2:
            server.kill()
            return " ".join(sorted(entry["uri"] for entry in message["result"]["resources"] if entry["uri"].endswith("SKILL.md")))
    server.wait(20)
    log.seek(0)
    return "ended: " + log.read().strip().splitlines()[-1].strip()

both = "skill://plants/SKILL.md skill://soil/SKILL.md"
seen = {case: play(*case) for case in (("old", "dated"), ("new", "dated"), ("new", "quoted"))}
print(f"expected: {both}")
for (provider, folder), what in seen.items():
    print(f"seen:     {provider} provider, {folder}: {what[:160]}")
sys.exit(not (seen["old", "dated"] == both == seen["new", "quoted"] and seen["new", "dated"].startswith("ended: ") and "finite JSON values" in seen["new", "dated"]))
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 120 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
