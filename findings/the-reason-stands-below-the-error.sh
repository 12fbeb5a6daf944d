#!/usr/bin/env bash
# What: `uvx` (uv 0.13.9) of a server that needs a newer Python than the computer has (basic-memory 0.24.1 on Python 3.11).
# Guess: the line that begins with `error:` says why, as with most programs; or the last line does.
# Seen: the line `error:` says only that no solution was found. The reason (Python>=3.12) stands in a line `cause:` below it, and the last line
#   speaks of unsatisfiable requirements again.
# Why it matters: a hub that shows one line of a failed start shows the one without the answer. The answer here is one option away:
#   `uvx --python 3.12`.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check uv==0.13.9; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

python=$(command -v python3.11 python3 | head -n 1)
"$python" -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || { echo "needs a Python older than 3.12"; exit 2; }
UV_CACHE_DIR="$work/cache" UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never timeout 100 venv/bin/uvx --python "$python" basic-memory==0.24.1 --help >out.txt 2>err.txt </dev/null
code=$?
grep -q '^error: No solution found\|^error:.*solution\|Python' err.txt || { tail -n 3 err.txt; echo "could not reach the index"; exit 2; }
echo "version:  $(venv/bin/uv --version | cut -d' ' -f1,2)"
echo "expected: Python>=3.12 in the line error:, or in the last line"
echo "seen:     exit code $code"
sed 's/^/          /' err.txt
error=$(grep '^error:' err.txt) last=$(tail -n 1 err.txt) cause=$(grep '^ *cause:' err.txt)
[ "$code" -ne 0 ] && ! grep -q 'Python' <<<"$error$last" && grep -q 'Python>=3.12' <<<"$cause" || { echo "changed"; exit 1; }
