#!/usr/bin/env bash
# What: three skills with ordinary frontmatter, one with `version: 1.10`, one with `updated: 2026-01-02`, one with a file that begins with a dot, each
#   served by @modelcontextprotocol/server 2.4.0 and by fastmcp 4.2.3, with the skills extension.
# Guess: both follow one specification, so both serve the same three entries; in doubt both take values as texts.
# Seen: the date is a text in the one and ends the other at its start. The version is the number 1.1 in the other, and in the one that skill is left out.
#   The file with a dot is in the manifest of the other only.
# Why it matters: a publisher tries a skill with one library, and the same folder is smaller, other or gone behind the next. What compares
#   frontmatter or pins a manifest has to allow for both readings, and to name the skill that it leaves out.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server@2.4.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

skill() { mkdir -p "$1/$1" && printf -- '---\nname: %s\ndescription: Use it for %s.\nmetadata:\n  %s\n---\nText.\n' "$1" "$1" "$2" >"$1/$1/SKILL.md"; }
skill numbered 'version: 1.10'
skill dated 'updated: 2026-01-02'
skill dotted 'author: me'
echo draft >dotted/dotted/.notes
cat >serve.mjs <<'JS'
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { loadSkills } from "@modelcontextprotocol/server/ext/skills/node";
const [folder, meta] = process.argv.slice(2);
const catalog = await loadSkills(folder);
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "garden", version: "1" });
  catalog.attach(server);
  return server;
});
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "skills/list" };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "skills/list", params: { _meta: JSON.parse(meta) } });
console.log(await (await handler.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }))).text());
JS
cat >serve.py <<'PY'
import sys
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP("garden")
server.add_provider(SkillsDirectoryProvider([sys.argv[1]]))
server.run(show_banner=False)
PY
cat >ask.py <<'PY'
import json, subprocess, sys
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientInfo": {"name": "finding", "version": "1"}, PREFIX + "clientCapabilities": {"extensions": {PREFIX + "skills": {}}}}

def said(skills):
    """The metadata of the one skill and how many files it has."""
    return "left out" if not skills else f"{json.dumps(skills[0]['frontmatter']['metadata'])}, {len(skills[0]['resources'])} file(s)"

def typescript(folder):
    answer = subprocess.run(["node", "serve.mjs", folder, json.dumps(META)], capture_output=True, text=True, timeout=40).stdout
    return said(json.loads(answer.strip().splitlines()[-1])["result"]["skills"])

def python(folder):
    server = subprocess.Popen([sys.executable, "serve.py", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True)
    try:
        for number, method in enumerate(("server/discover", "skills/list")):
            print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}), file=server.stdin, flush=True)
    except BrokenPipeError:
        pass
    answers = (json.loads(line) for line in server.stdout)
    listed = next((answer["result"]["skills"] for answer in answers if answer.get("id") == 1), None)
    server.kill()
    return "the server ends" if listed is None else said(listed)

seen = {folder: (typescript(folder), python(folder)) for folder in ("numbered", "dated", "dotted")}
print("expected: the same from both")
for folder, (one, other) in seen.items():
    print(f"seen:     {folder}: server 2.4.0: {one}; fastmcp 4.2.3: {other}")
sys.exit(seen != {"numbered": ("left out", '{"version": 1.1}, 1 file(s)'), "dated": ('{"updated": "2026-01-02"}, 1 file(s)', "the server ends"),
                  "dotted": ('{"author": "me"}, 1 file(s)', '{"author": "me"}, 2 file(s)')})
PY
echo "version:  @modelcontextprotocol/server 2.4.0; fastmcp 4.2.3, mcp 2.3.0"
timeout 150 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
