#!/usr/bin/env bash
# What: `npx -y NAME` (npm 11.19.1) of a package that says it needs a newer Node.js (`engines`), and uses something that this one lacks; three times.
# Guess: npm refuses it, or warns at each start, so that the reason stands above the error.
# Seen: it warns (EBADENGINE, with both versions) at the start that fetches the package, and never again. From the second start on, all that is left is
#   "SyntaxError: … does not provide an export named …", with exit code 1 each time.
# Why it matters: a hub starts a server again and shows the last failure, which no longer has the reason. It has to keep what the first start said,
#   or compare `engines` of the package in npx's cache with the Node.js that is there.
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
PACKAGE = {"name": "tiny", "version": "1.0.0", "type": "module", "bin": {"tiny": "tiny.js"}, "engines": {"node": ">=99"}}
PROGRAM = """#!/usr/bin/env node
import { notHereYet } from "node:fs/promises"
notHereYet()
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
echo "version:  npm $(node_modules/.bin/npm --version), Node.js $(node --version)"
echo "expected: a refusal, or a warning each time"
seen=
for number in 1 2 3; do
  timeout 60 node_modules/.bin/npx -y tiny >"$number.log" 2>&1 </dev/null
  code=$?
  warned=$(grep -c "required: { node: '>=99' }" "$number.log")
  errors=$(grep -c "^SyntaxError: .*notHereYet" "$number.log")
  echo "seen:     start $number: exit code $code, warnings $warned, syntax errors $errors"
  seen="$seen $code:$warned:$errors"
done
[ "$seen" = " 1:1:1 1:0:1 1:0:1" ] || { tail -n 3 ./*.log; echo "changed"; exit 1; }
