#!/usr/bin/env bash
# What: a server needs a package that makes a part of itself as it is installed (`postinstall`, as native parts do), started by npx (npm 11.19.1),
#   pnpm dlx 12.4.2, yarn dlx 4.18.1, bunx 1.4.4 and deno 2.9.6.
# Guess: the five are alike: what starts with one starts with the others.
# Seen: only npx makes the part. yarn, bunx and deno leave it out and start the server without it; bunx does not say so. pnpm does not
#   start the server at all, with "Ignored build scripts: part", and neither at the second attempt.
# Why it matters: an entry that works with npx is another one with another launcher's word in front, and where the server starts, the error comes
#   later, from inside it, about a file that is missing. What takes entries over must not exchange one launcher for another.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${registry:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error npm@11.19.1 pnpm@12.4.2 @yarnpkg/cli-dist@4.18.1 bun@1.4.4 deno@2.9.6 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >registry.py <<'PY'
"""A registry of npm on a free port, which it writes to the file `port`: `tiny`, a server, and `part`, which it needs, and which makes a file as it is installed.
The file `releases` has the versions of `tiny`."""
import base64, hashlib, http.server, io, json, tarfile
PROGRAM = """#!/usr/bin/env node
const built = require("fs").existsSync(require("path").join(require("path").dirname(require.resolve("part")), "built.txt"))
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const name = `tiny ${require("./package.json").version} ${built ? "with" : "without"} its part`
  console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name, version: "1" } } }))
})
"""
BUILD = 'require("fs").writeFileSync(__dirname + "/built.txt", "")'
def package(name, version):
    if name == "tiny": return {"name": name, "version": version, "bin": {"tiny": "tiny.js"}, "dependencies": {"part": "1.0.0"}}, {"tiny.js": PROGRAM}
    return {"name": name, "version": version, "main": "part.js", "scripts": {"postinstall": "node build.js"}}, {"part.js": "", "build.js": BUILD}
def archive(name, version):
    described, files = package(name, version)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as file:
        for path, text in {"package.json": json.dumps(described), **files}.items():
            entry = tarfile.TarInfo("package/" + path)
            entry.size, entry.mode = len(text), 0o755
            file.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()
made = {}
class Registry(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        name, _, rest = self.path.strip("/").partition("/")
        if rest: body = made[rest.removeprefix("-/")]
        else:
            listed = {}
            for version in open("releases").read().split() if name == "tiny" else ["1.0.0"]:
                path = f"{name}-{version}.tgz"
                bytes_ = made.setdefault(path, archive(name, version))
                sums = {"shasum": hashlib.sha1(bytes_).hexdigest(), "integrity": "sha512-" + base64.b64encode(hashlib.sha512(bytes_).digest()).decode()}
                listed[version] = {**package(name, version)[0], "dist": {"tarball": f"http://127.0.0.1:{self.server.server_port}/{name}/-/{path}", **sums}}
                if name == "part": listed[version]["hasInstallScript"] = True
            body = json.dumps({"name": name, "dist-tags": {"latest": list(listed)[-1]}, "versions": listed, "time": dict.fromkeys(listed, "2024-01-01T00:00:00.000Z")}).encode()
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
      timeout 25 "$work/node_modules/.bin/$1" "${@:2}" 2>>"$work/$1.log")
}
echo "version:  npm 11.19.1, pnpm 12.4.2, yarn 4.18.1, bun 1.4.4, deno 2.9.6"
echo "expected: the same for all"
seen=
for launcher in npx pnpm pnpm yarn bunx deno; do
  answer=$(start "$launcher" | grep -oE 'with(out)? its part')
  echo "seen:     $launcher: ${answer:-no answer}"
  seen="$seen $launcher:${answer%% *}"
done
[ "$seen" = " npx:with pnpm: pnpm: yarn:without bunx:without deno:without" ] && grep -q "Ignored build scripts: part@1.0.0" pnpm.log || { tail -n 5 ./*.log; echo "changed"; exit 1; }
