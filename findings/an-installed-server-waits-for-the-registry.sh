#!/usr/bin/env bash
# What: `npx -y NAME@1.0.0` (npm 11.19.1) of a package that was started before and is in npx's folder, while the registry cannot be reached.
# Guess: a pinned version that is installed needs no registry: it starts at once. Or the start fails.
# Seen: it starts, after more than a minute in which nothing is printed: npx asks the registry at every start, and waits 10 s and 60 s between
#   its tries. With `npm_config_prefer_offline=true` it starts at once and asks for nothing.
# Why it matters: on a train every server of npx looks hung for a minute and answers later than most hubs and clients wait. Killed and
#   started again it waits again.
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
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
    for name, text, mode in (("package.json", json.dumps(PACKAGE), 0o644), ("tiny.js", "#!/usr/bin/env node\nconsole.log('started')\n", 0o755)):
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
start() { # start [SETTING]: what one start prints and how many seconds it takes
  local began=$SECONDS
  out=$(env ${1:-} timeout 120 node_modules/.bin/npx -y tiny@1.0.0 </dev/null 2>&1)
  took=$((SECONDS - began))
}
start
first=$out
kill "$registry"
wait "$registry" 2>/dev/null
start
without=$out slow=$took
start npm_config_prefer_offline=true

echo "version:  npm $(node_modules/.bin/npm --version)"
echo "expected: a start within seconds, or an error"
echo "seen:     with the registry: $first; without it: $without after $slow s; with prefer_offline: $out after $took s"
[ "$first $without $out" = "started started started" ] && [ "$slow" -ge 60 ] && [ "$took" -lt 30 ] || { echo "changed"; exit 1; }
