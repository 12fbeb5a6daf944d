#!/usr/bin/env bash
# What: one server, entered without a version, started by npx (npm 11.19.1), pnpm dlx 12.4.2, yarn dlx 4.18.1, bunx 1.4.4 and deno 2.9.6; then a new
#   version of it is published, and each starts it again.
# Guess: without a version each start takes the newest one that the registry has.
# Seen: npx and yarn start the new version. pnpm, bunx and deno start the first one again.
# Why it matters: the same server is of two versions on one computer, by the word that its entry begins with; a fix reaches some clients only. A hub
#   that says "not pinned: a new release is taken at the next start" is right for two of five.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${registry:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error npm@11.19.1 pnpm@12.4.2 @yarnpkg/cli-dist@4.18.1 bun@1.4.4 deno@2.9.6 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >registry.py <<'PY'
"""A registry of npm with one package, the server `tiny`, on a free port, which it writes to the file `port`. The file `releases` has its versions."""
import base64, hashlib, http.server, io, json, tarfile
PROGRAM = """#!/usr/bin/env node
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const serverInfo = { name: "tiny " + require("./package.json").version, version: "1" }
  console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo } }))
})
"""
def package(version): return {"name": "tiny", "version": version, "bin": {"tiny": "tiny.js"}}
def archive(version):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as file:
        for path, text in {"package.json": json.dumps(package(version)), "tiny.js": PROGRAM}.items():
            entry = tarfile.TarInfo("package/" + path)
            entry.size, entry.mode = len(text), 0o755
            file.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()
made = {}
class Registry(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        body = made.get(self.path)
        if body is None:
            listed = {}
            for version in open("releases").read().split():
                path = f"/tiny/-/tiny-{version}.tgz"
                data = made.setdefault(path, archive(version))
                sums = {"shasum": hashlib.sha1(data).hexdigest(), "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
                listed[version] = {**package(version), "dist": {"tarball": f"http://127.0.0.1:{self.server.server_port}{path}", **sums}}
            times = dict.fromkeys(listed, "2024-01-01T00:00:00.000Z")
            body = json.dumps({"name": "tiny", "dist-tags": {"latest": list(listed)[-1]}, "versions": listed, "time": times}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
open("port", "w").write(str(server.server_port))
server.serve_forever()
PY
echo 1.0.0 >releases
python3 registry.py 2>registry.log &
registry=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
address="http://127.0.0.1:$(cat port)/"
mkdir -p home/project
start() { # the name and version that the server gives, after "other lines first: " if anything stands before its answer
  case $1 in
    npx) set -- npx -y tiny ;;
    pnpm) set -- pnpm dlx tiny ;;
    yarn) set -- yarn dlx tiny ;;
    bunx) set -- bunx tiny ;;
    deno) set -- deno run -A npm:tiny ;;
  esac
  (cd home/project && echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"finding","version":"1"}}}' |
    env HOME="$work/home" XDG_CACHE_HOME="$work/home/.cache" npm_config_registry="$address" npm_config_cache="$work/home/.npm" npm_config_update_notifier=false NPM_CONFIG_REGISTRY="$address" \
      pnpm_config_registry="$address" BUN_CONFIG_REGISTRY="$address" YARN_NPM_REGISTRY_SERVER="$address" YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1 YARN_ENABLE_TELEMETRY=0 \
      timeout 15 "$work/node_modules/.bin/$1" "${@:2}" 2>>"$work/$1.log")
}
echo "version:  npm 11.19.1, pnpm 12.4.2, yarn 4.18.1, bun 1.4.4, deno 2.9.6"
echo "expected: 1.0.0, then 2.0.0 for all"
for launcher in npx pnpm yarn bunx deno; do start "$launcher" | grep -o 'tiny [0-9.]*' >"$launcher.first"; done
echo 1.0.0 2.0.0 >releases
seen=
for launcher in npx pnpm yarn bunx deno; do
  start "$launcher" | grep -o 'tiny [0-9.]*' >"$launcher.second"
  echo "seen:     $launcher: $(cat "$launcher.first"), then $(cat "$launcher.second")"
  seen="$seen $launcher:$(cut -d ' ' -f 2 "$launcher.first"):$(cut -d ' ' -f 2 "$launcher.second")"
done
[ "$seen" = " npx:1.0.0:2.0.0 pnpm:1.0.0:1.0.0 yarn:1.0.0:2.0.0 bunx:1.0.0:1.0.0 deno:1.0.0:1.0.0" ] || { tail -n 3 ./*.log; echo "changed"; exit 1; }
