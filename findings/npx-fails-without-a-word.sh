#!/usr/bin/env bash
# What: `npx -y NAME` (npm 11.19.1) of a package that needs another one, whose install script fails with a message.
# Guess: npm's error with the script's message on standard error; at the least one line that says an install failed.
# Seen: exit code 1 and not one byte on standard output or standard error. A higher log level changes nothing, and npm's log file names the script
#   and its exit code, but not its message. Only with `npm_config_foreground_scripts=true` does the message appear.
# Why it matters: a hub that starts a server by npx has nothing to show. What it can do: name the newest log file, or start the
#   install again with scripts in the foreground to learn the reason.
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
python3 registry.py 'echo "no compiler found" >&2; exit 1' 2>/dev/null &
registry=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
export npm_config_registry="http://127.0.0.1:$(cat port)/" npm_config_cache="$work/cache" npm_config_userconfig="$work/npmrc" npm_config_update_notifier=false npm_config_audit=false
start() { # start NAME [SETTING]: one start with an empty cache
  rm -rf cache
  env ${2:-} timeout 60 node_modules/.bin/npx -y tiny >"$1.out" 2>"$1.err" </dev/null
  echo "$?" >"$1.rc"
}
start plain
logged=$(cat cache/_logs/*.log)
start louder npm_config_loglevel=notice
start foreground npm_config_foreground_scripts=true

echo "version:  npm $(node_modules/.bin/npm --version)"
echo "expected: exit code 1 and the reason"
for name in plain louder foreground; do
  echo "seen:     $name: exit code $(cat $name.rc), $(cat $name.out $name.err | wc -c) bytes: $(cat $name.err)"
done
echo "          the log names the script: $(grep -c 'native@1.0.0 install' <<<"$logged") lines; the reason: $(grep -c 'no compiler found$' <<<"$logged") lines"
[ "$(cat plain.rc louder.rc foreground.rc | sort -u)" = 1 ] && [ ! -s plain.out ] && [ ! -s plain.err ] && [ ! -s louder.err ] &&
  grep -q 'no compiler found' foreground.err && grep -q 'native@1.0.0 install' <<<"$logged" || { echo "changed"; exit 1; }
