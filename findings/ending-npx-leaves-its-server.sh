#!/usr/bin/env bash
# What: a server is started by `npx -y NAME` (npm 11.19.1); then npx is ended with SIGTERM while the server's input stays open.
# Guess: npx passes the signal on and waits for the server, as npm does for scripts in the foreground; at the least the server gets it.
# Seen: npx is gone at once with code 143. The server never gets a signal and goes on; it ends only when its input is closed.
# Why it matters: who starts a server by npx knows the process of npx only. Ending that process ends nothing: a server that does not watch its
#   input, or whose input another process holds, stays for good. A hub has to end the whole group or tree.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${registry:-}" "${server:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error npm@11.19.1 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >registry.py <<'PY'
"""A registry of npm with one package, on a free port, which it writes to the file `port`."""
import base64, hashlib, http.server, io, json, tarfile
PACKAGE = {"name": "tiny", "version": "1.0.0", "bin": {"tiny": "tiny.js"}}
PROGRAM = """#!/usr/bin/env node
const note = (text) => require("fs").appendFileSync(process.env.NOTE, text + " ")
note(process.pid)
process.on("SIGTERM", () => { note("SIGTERM"); process.exit(0) })
process.stdin.on("data", () => {}).on("end", () => { note("end of input"); process.exit(0) })
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
export npm_config_registry="http://127.0.0.1:$(cat port)/" npm_config_cache="$work/cache" npm_config_userconfig="$work/npmrc" npm_config_update_notifier=false NOTE="$work/note"
mkfifo input
node_modules/.bin/npx -y tiny <input >npx.log 2>&1 &
npx=$!
exec 9>input
for _ in $(seq 300); do [ -s note ] && break; sleep 0.1; done
server=$(cut -d' ' -f1 note)
[ -n "$server" ] || { tail -n 3 npx.log; echo "changed: the server did not start"; exit 1; }
kill -TERM "$npx"
wait "$npx"
code=$?
sleep 3
kill -0 "$server" 2>/dev/null && alive="goes on" || alive="has ended"
after_signal=$(cut -d' ' -f2- note)
exec 9>&-
for _ in $(seq 50); do kill -0 "$server" 2>/dev/null || break; sleep 0.1; done
after_input=$(cut -d' ' -f2- note)

echo "version:  npm $(node_modules/.bin/npm --version)"
echo "expected: the server gets SIGTERM and ends"
echo "seen:     npx: exit code $code; three seconds later the server $alive, and was told: ${after_signal:-nothing}"
echo "          after its input was closed: $after_input"
[ "$code" = 143 ] && [ "$alive" = "goes on" ] && [ -z "$after_signal" ] && [ "$after_input" = "end of input " ] || { echo "changed"; exit 1; }
