#!/usr/bin/env bash
# What: `npx -y NAME` (npm 11.19.1) is killed while an install script of a dependency runs, and is started again.
# Guess: the second start sees that the install is not complete and does it again.
# Seen: the second start waits about a minute for the lock of the dead one, then starts the program as it is. The install script is never
#   run again, at this or any later start: the half installed package counts as installed. (Ended by SIGTERM, npx cleans up.)
# Why it matters: a hub that kills a first start which takes too long breaks the server for good, and the error that follows is about
#   something else. The cure is to remove npx's folder of that package, which no message names.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${registry:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error npm@11.19.1 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >registry.py <<'PY'
"""A registry of npm on a free port, which it writes to the file `port`. Its one package needs another, whose install script is the argument."""
import base64, hashlib, http.server, io, json, sys, tarfile
PACKAGES = {
    "tiny": {"name": "tiny", "version": "1.0.0", "bin": {"tiny": "tiny.js"}, "dependencies": {"native": "1.0.0"}},
    "native": {"name": "native", "version": "1.0.0", "scripts": {"install": sys.argv[1]}},
}
PROGRAM = """#!/usr/bin/env node
const { existsSync } = require("fs")
console.log(existsSync(require("path").dirname(require.resolve("native/package.json")) + "/built") ? "complete" : "incomplete")
"""

def packed(package):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text, mode in (("package.json", json.dumps(package), 0o644), ("tiny.js", PROGRAM, 0o755)):
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode = len(text), mode
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()

ARCHIVES = {name: packed(package) for name, package in PACKAGES.items()}

class Registry(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        name = self.path.strip("/").split("/")[0]
        if name not in PACKAGES:
            return self.send_error(404)
        archive = ARCHIVES[name]
        dist = {"tarball": f"http://127.0.0.1:{self.server.server_port}/{name}/archive.tgz", "integrity": "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()}
        listed = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**PACKAGES[name], "hasInstallScript": "scripts" in PACKAGES[name], "dist": dist}}}
        body = archive if self.path.endswith(".tgz") else json.dumps(listed).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
open("port", "w").write(str(server.server_port))
server.serve_forever()
PY
python3 registry.py 'node -e "setTimeout(() => require(\"fs\").writeFileSync(\"built\", \"\"), 4000)"' 2>/dev/null &
registry=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
export npm_config_registry="http://127.0.0.1:$(cat port)/" npm_config_cache="$work/cache" npm_config_userconfig="$work/npmrc" npm_config_update_notifier=false npm_config_audit=false
npx() { timeout 150 node_modules/.bin/npx -y tiny </dev/null 2>/dev/null; }
whole=$(npm_config_cache="$work/other" npx)

setsid node_modules/.bin/npx -y tiny >/dev/null 2>&1 </dev/null &
killed=$!
for _ in $(seq 200); do ls cache/_npx/*/node_modules/.bin/tiny >/dev/null 2>&1 && break; sleep 0.1; done
sleep 1
kill -KILL -- "-$killed"
wait "$killed" 2>/dev/null
second=$(npx)
third=$(npx)
rm -rf cache/_npx
fourth=$(npx)

echo "version:  npm $(node_modules/.bin/npm --version)"
echo "expected: complete at every start that is not killed"
echo "seen:     never killed: $whole; after the kill: $second, $third; after npx's folder was removed: $fourth"
[ "$whole $second $third $fourth" = "complete incomplete incomplete complete" ] || { echo "changed"; exit 1; }
