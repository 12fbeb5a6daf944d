#!/usr/bin/env bash
# What: two folders with a skill `plants` each, and `soil` in the second, served by fastmcp 4.2.3 in four ways: one provider for both folders, two
#   providers, two mounted servers, two mounted servers with a namespace each.
# Guess: the first one wins, or both are listed apart; whichever it is, the same in each way and in each list.
# Seen: one provider lists the first. Two providers or two mounted servers list neither, without an error; the first is still among
#   `resources/list` and can be read. Only with namespaces are both there.
# Why it matters: a client that knows skills loses one that works as long as it is served alone, and a client that knows resources keeps it. What
#   puts servers together has to give every skill a label of its server, always.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

skill() { mkdir -p "$1/$2" && printf -- '---\nname: %s\ndescription: Of %s.\n---\nText.\n' "$2" "$1" >"$1/$2/SKILL.md"; }
skill north plants && skill south plants && skill south soil
cat >server.py <<'PY'
import sys
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server, way = FastMCP("garden"), sys.argv[1]

def of(folder):
    one = FastMCP(folder)
    one.add_provider(SkillsDirectoryProvider([folder]))
    return one

if way == "one provider":
    server.add_provider(SkillsDirectoryProvider(["north", "south"]))
for folder in ("north", "south"):
    if way == "two providers": server.add_provider(SkillsDirectoryProvider([folder]))
    elif way == "mounted": server.mount(of(folder))
    elif way == "with namespaces": server.mount(of(folder), namespace=folder)
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientInfo": {"name": "finding", "version": "1"}, PREFIX + "clientCapabilities": {"extensions": {PREFIX + "skills": {}}}}

def short(uris): return " ".join(sorted(uri.removeprefix("skill://").removesuffix("/SKILL.md") for uri in uris if uri.endswith("SKILL.md")))

def play(way):
    """What is listed as a skill, and as a resource."""
    server = subprocess.Popen([sys.executable, "server.py", way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    def ask(number, method):
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}), file=server.stdin, flush=True)
        while (message := json.loads(server.stdout.readline())).get("id") != number: pass
        return message["result"]
    ask(1, "server/discover")
    listed = short(skill["uri"] for skill in ask(2, "skills/list")["skills"]), short(resource["uri"] for resource in ask(3, "resources/list")["resources"])
    server.kill()
    return listed

seen = {way: play(way) for way in ("one provider", "two providers", "mounted", "with namespaces")}
print("expected: plants soil in each list, or each with its folder")
for way, (skills, resources) in seen.items():
    print(f"seen:     {way}: skills: {skills}; resources: {resources}")
apart = "north/plants south/plants south/soil"
sys.exit(seen != {"one provider": ("plants soil", "plants soil"), "two providers": ("soil", "plants soil"), "mounted": ("soil", "plants soil"), "with namespaces": (apart, apart)})
PY
echo "version:  fastmcp 4.2.3, mcp 2.3.0"
timeout 120 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
