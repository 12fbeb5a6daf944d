#!/usr/bin/env bash
# What: @modelcontextprotocol/server-filesystem 2026.8.31 is started for the folder `notes`, as its entry says; the client tells, when asked for roots, that
#   it works in the folder `project`.
# Guess: both folders may be used, or only what lies in both; the command line is what the person allowed.
# Seen: the client's folder replaces the one of the entry: `project` may be read, `notes` is denied. With a client that has no roots, tells none, or
#   one that does not exist, `notes` counts.
# Why it matters: the same entry reaches other files in each client. A process that several clients share would be moved by each of them, for all: a hub
#   has to keep one client's roots out of what another one uses.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server-filesystem@2026.8.31 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir notes project
echo note >notes/a.txt
echo plan >project/a.txt
cat >ask.py <<'PY'
import json, os, pathlib, subprocess, sys
PROGRAM = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"

def play(roots):
    """Which of the two files can be read, for a client that tells these folders; None: it has no roots."""
    server = subprocess.Popen(["node", PROGRAM, os.path.abspath("notes")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def receive(wanted):
        while not wanted(message := json.loads(server.stdout.readline())): pass
        return message
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {} if roots is None else {"roots": {"listChanged": True}}, "clientInfo": {"name": "finding", "version": "1"}})
    receive(lambda message: message.get("id") == 1)
    send(method="notifications/initialized")
    if roots is not None:
        asked = receive(lambda message: message.get("method") == "roots/list")
        send(id=asked["id"], result={"roots": [{"uri": pathlib.Path(root).absolute().as_uri()} for root in roots]})
    # It says on standard error what it uses, once it has decided.
    for line in server.stderr:
        if "oots" in line or "root directories" in line: break
    readable = []
    for number, folder in enumerate(("notes", "project"), 10):
        send(id=number, method="tools/call", params={"name": "read_text_file", "arguments": {"path": os.path.abspath(f"{folder}/a.txt")}})
        if not receive(lambda message: message.get("id") == number and "method" not in message)["result"].get("isError"):
            readable.append(folder)
    server.kill()
    return readable

seen = {"no roots": play(None), "roots: none": play([]), "roots: a folder that does not exist": play(["gone"]), "roots: project": play(["project"])}
print("expected: notes in each case")
for case, readable in seen.items():
    print(f"seen:     {case}: {' '.join(readable)}")
sys.exit(list(seen.values()) != [["notes"], ["notes"], ["notes"], ["project"]])
PY
echo "version:  @modelcontextprotocol/server-filesystem 2026.8.31"
timeout 100 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
