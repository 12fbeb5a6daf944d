#!/usr/bin/env bash
# What: packages that were released before mcp 2 and do not limit its version: autogen-ext 0.7.5 with its extra `mcp`, and the server
#   color-mcp-server 0.1.0, installed today as their documents say.
# Guess: a package at a pinned version that worked when it was released still starts.
# Seen: pinning the package pins none of its requirements: both get mcp 2.x and fail to import. With `mcp<2` added both work. (So do smolagents 1.26.0,
#   mcpo 0.0.20, mcp-agent 0.2.6, and nine of 21 servers that were tried.)
# Why it matters: a server that ran yesterday fails after a cache was cleaned, with a traceback about a module that its user has never heard
#   of. A hub can know the message and offer `--with 'mcp<2'`.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for package in 'autogen-ext[mcp]==0.7.5' color-mcp-server==0.1.0; do
  name=${package%%[\[=]*}
  { python3 -m venv "$name" && "$name/bin/pip" install -q --disable-pip-version-check "$package"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done
load() { # load NAME MODULE: the version of mcp and whether the module loads
  "$1/bin/python" -c "import importlib.metadata as m; print('mcp', m.version('mcp'))"
  timeout 60 "$1/bin/python" -c "import $2" </dev/null >import.txt 2>&1 && echo "loads" || tail -n 1 import.txt | cut -c 1-120
}
both() {
  load autogen-ext autogen_ext.tools.mcp
  load color-mcp-server "$module"
}
module=$(color-mcp-server/bin/python -c "import importlib.metadata as m; print(next(e.value for e in m.distribution('color-mcp-server').entry_points if e.group == 'console_scripts').split(':')[0])")
today=$(both)
for name in autogen-ext color-mcp-server; do
  "$name/bin/pip" install -q --disable-pip-version-check 'mcp==1.30.0' >install.log 2>&1 || { tail -n 5 install.log; echo "could not install"; exit 2; }
done
limited=$(both)

echo "version:  autogen-ext 0.7.5, color-mcp-server 0.1.0"
echo "expected: both load as installed"
echo "seen:     as installed:"
sed 's/^/          /' <<<"$today"
echo "          with mcp 1.30.0:"
sed 's/^/          /' <<<"$limited"
[ "$(grep -c '^mcp 2' <<<"$today")" = 2 ] && [ "$(grep -c Error <<<"$today")" = 2 ] && [ "$(grep -c '^loads' <<<"$limited")" = 2 ] || { echo "changed"; exit 1; }
