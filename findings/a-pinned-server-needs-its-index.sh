#!/usr/bin/env bash
# What: `uvx NAME==1.0` (uv 0.13.9) of a package that was run before and is in uv's cache, while the index cannot be reached.
# Guess: a pinned version that is in the cache needs no index.
# Seen: as soon as the index's page has outlived its cache lifetime (ten minutes with the public one; at once with the one used here), uvx asks
#   again, and the start fails after its retries. `uvx --offline`, or UV_OFFLINE=1, starts the same package at once.
# Why it matters: servers that ran this morning do not start on a train, although every byte of them is there, and the error blames the
#   network. (npx waits for a minute and then starts: an-installed-server-waits-for-the-registry.)
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${index:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check uv==0.13.9; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >index.py <<'PY'
"""A package index with one package, on a free port, which it writes to the file `port`. Its page may not be kept."""
import base64, hashlib, http.server, io, zipfile
NAME, INFO = "tiny-1.0-py3-none-any.whl", "tiny-1.0.dist-info"
FILES = {
    "tiny.py": "def main():\n    print('started')\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: finding\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\ntiny = tiny:main\n",
}
def digest(text): return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
record = "".join(f"{name},sha256={digest(text)},{len(text)}\n" for name, text in FILES.items()) + f"{INFO}/RECORD,,\n"
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w") as wheel:
    for name, text in {**FILES, f"{INFO}/RECORD": record}.items():
        wheel.writestr(name, text)

class Index(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        wheel = self.path.endswith(".whl")
        body = buffer.getvalue() if wheel else f'<a href="/{NAME}">{NAME}</a>'.encode()
        self.send_response(200)
        self.send_header("content-type", "application/octet-stream" if wheel else "text/html")
        self.send_header("cache-control", "max-age=86400" if wheel else "max-age=0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_HEAD = do_GET

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
open("port", "w").write(str(server.server_port))
server.serve_forever()
PY
python3 index.py 2>/dev/null &
index=$!
for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
export UV_CACHE_DIR="$work/cache" UV_NO_CONFIG=1 UV_DEFAULT_INDEX="http://127.0.0.1:$(cat port)/simple" UV_PYTHON_DOWNLOADS=never
start() { timeout 60 venv/bin/uvx "$@" 'tiny==1.0' </dev/null 2>error.txt || echo "failed: $(head -n 1 error.txt)"; }
first=$(start)
kill "$index"
wait "$index" 2>/dev/null
without=$(start)
offline=$(start --offline)

echo "version:  $(venv/bin/uv --version | cut -d' ' -f1,2)"
echo "expected: started, three times"
echo "seen:     with the index: $first; without it: $without; without it and with --offline: $offline"
case "$first|$without|$offline" in "started|failed: "*"|started") ;; *) echo "changed"; exit 1 ;; esac
