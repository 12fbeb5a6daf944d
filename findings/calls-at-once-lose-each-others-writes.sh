#!/usr/bin/env bash
# What: ten calls of `create_entities` at once to @modelcontextprotocol/server-memory 2026.8.31, over one connection, as a model that calls tools in
#   parallel makes them; then ten calls one after the other.
# Guess: ten entities are stored in both cases; the server puts its writes in a row, since it keeps them in one file.
# Seen: all ten calls at once succeed and each answer shows its entity as created, but the file holds one or a few of them. One after the other, all
#   ten are there. Each call reads the file, adds its own and writes the whole.
# Why it matters: a hub makes it more likely, because several clients share one process and none of them sees the others' calls. The records
#   say success. Only a limit of one call at a time for such a server keeps the data.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @modelcontextprotocol/server-memory@2026.8.31 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.py <<'PY'
import json, os, subprocess, sys
PROGRAM = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"

def play(name, at_once):
    """How many of ten calls succeeded, and how many entities are in the file and in the graph that the server reads again."""
    path = os.path.abspath(name + ".jsonl")
    server = subprocess.Popen(["node", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("server.log", "a"), text=True, env={**os.environ, "MEMORY_FILE_PATH": path})
    def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    def answers(numbers):
        got = {}
        while len(got) < len(numbers):
            message = json.loads(server.stdout.readline())
            if message.get("id") in numbers:
                got[message["id"]] = message["result"]
        return got
    def create(number):
        entity = {"name": f"plant {number}", "entityType": "plant", "observations": ["green"]}
        send(id=number, method="tools/call", params={"name": "create_entities", "arguments": {"entities": [entity]}})
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
    answers([1])
    send(method="notifications/initialized")
    numbers = range(10, 20)
    if at_once:
        for number in numbers: create(number)
        results = answers(numbers)
    else:
        results = {}
        for number in numbers:
            create(number)
            results.update(answers([number]))
    send(id=90, method="tools/call", params={"name": "read_graph", "arguments": {}})
    graph = answers([90])[90]["structuredContent"]["entities"]
    server.kill()
    succeeded = [number for number, result in results.items() if not result.get("isError") and f"plant {number}" in json.dumps(result)]
    return len(succeeded), sum('"entity"' in line for line in open(path)), len(graph)

at_once, in_turn = play("at-once", True), play("in-turn", False)
print("expected: 10 succeeded, 10 in the file, 10 read again")
print("seen:     at once: %d succeeded, %d in the file, %d read again" % at_once)
print("seen:     in turn: %d succeeded, %d in the file, %d read again" % in_turn)
sys.exit(not (at_once[0] == 10 and at_once[2] < 10 and in_turn == (10, 10, 10)))
PY
echo "version:  @modelcontextprotocol/server-memory 2026.8.31"
timeout 60 python3 ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
