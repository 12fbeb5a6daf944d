#!/usr/bin/env bash
# What: the same `npx -y tiny` (npm 11.19.1) started in an empty folder, in a project with a program of that name in `node_modules/.bin`, and in a folder
#   three levels below that project; then `npx -y tiny@1.0.0` there.
# Guess: `-y` without a version is the newest of the registry, wherever it is started; or the project's own folder counts, and only that.
# Seen: in the project and anywhere below it, the project's program runs, without a look at the registry. It is found by the name of a file in
#   `node_modules/.bin`, whichever package put it there. Only with a version does the registry's package run.
# Why it matters: one entry is two programs, depending on the folder that a client starts servers in, and a `node_modules` in the home folder
#   answers for everything below. What starts servers should do so from one folder, and pin them.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${registry:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error npm@11.19.1 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >registry.py <<'PY'
"""A registry of npm with one package, on a free port, which it writes to the file `port`."""
import base64, hashlib, http.server, io, json, tarfile
PACKAGE = {"name": "tiny", "version": "1.0.0", "bin": {"tiny": "tiny.js"}}
PROGRAM = """#!/usr/bin/env node
console.log("registry")
"""
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
    for name, text, mode in (("package.json", json.dumps(PACKAGE), 0o644), ("tiny.js", PROGRAM, 0o755)):
        entry = tarfile.TarInfo("package/" + name)
        entry.size, entry.mode = len(text), mode
        archive.addfile(entry, io.BytesIO(text.encode()))
ARCHIVE = buffer.getvalue()

class Registry(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        dist = {"tarball": f"http://127.0.0.1:{self.server.server_port}/tiny/archive.tgz", "integrity": "sha512-" + base64.b64encode(hashlib.sha512(ARCHIVE).digest()).decode()}
        listed = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**PACKAGE, "dist": dist}}}
        body = ARCHIVE if self.path.endswith(".tgz") else json.dumps(listed).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
open("port", "w").write(str(server.server_port))
server.serve_forever()
PY
python3 registry.py 2>/dev/null &
registry=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
export npm_config_registry="http://127.0.0.1:$(cat port)/" npm_config_cache="$work/cache" npm_config_userconfig="$work/npmrc" npm_config_update_notifier=false
mkdir -p empty project/node_modules/.bin project/one/two/three
printf '#!/bin/sh\necho project\n' >project/node_modules/.bin/tiny
chmod +x project/node_modules/.bin/tiny
start() { # start FOLDER NAME: what ran
  (cd "$1" && timeout 60 "$work/node_modules/.bin/npx" -y "$2" 2>>"$work/npx.log" </dev/null)
}
seen="$(start empty tiny) $(start project tiny) $(start project/one/two/three tiny) $(start project/one/two/three tiny@1.0.0)"

echo "version:  npm $(node_modules/.bin/npm --version)"
echo "expected: registry, four times"
echo "seen:     empty folder, project, below it, below it with a version: $seen"
[ "$seen" = "registry project project registry" ] || { tail -n 3 npx.log; echo "changed"; exit 1; }
