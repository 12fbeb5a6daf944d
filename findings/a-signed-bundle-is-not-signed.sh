#!/usr/bin/env bash
# What: `mcpb sign --self-signed` of @anthropic-ai/mcpb 2.1.2 signs a bundle; then `mcpb verify` and `mcpb info` look at it.
# Guess: both say that it is signed, and that nobody vouches for the certificate.
# Seen: `sign` says "Successfully signed", and the file is longer. `verify` says "Extension is not signed" with exit code 1, `info` "Not signed". A bundle
#   with a signature that is not trusted and one without any look the same.
# Why it matters: "not signed" from this tool is no statement about the file: a signature may be there, and the bytes after the archive with it. A hub
#   that compares bundles by digest sees two files where this tool sees one unsigned bundle twice.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @anthropic-ai/mcpb@2.1.2 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p bundle/server
echo 'console.log("hello")' >bundle/server/index.js
cat >bundle/manifest.json <<'JSON'
{"manifest_version": "0.3", "name": "notes", "version": "1.0.0", "description": "Keeps notes", "author": {"name": "Finding"},
 "server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server/index.js"]}}}
JSON
mcpb() { timeout 40 node_modules/.bin/mcpb "$@" 2>&1 </dev/null; }
mcpb pack bundle notes.mcpb >steps.log
before=$(wc -c <notes.mcpb)
signed=$(mcpb sign --self-signed notes.mcpb | grep -o 'Successfully signed')
longer=$(($(wc -c <notes.mcpb) > before + 500))
verified=$(mcpb verify notes.mcpb)
code=$?
info=$(mcpb info notes.mcpb)
echo "version:  mcpb $(mcpb --version)"
echo "expected: sign: signed; verify and info: signed, not trusted"
echo "seen:     sign: $signed, longer by more than 500 bytes: $longer; verify: $(echo "$verified" | tail -n 1), exit code $code; info: $(echo "$info" | tail -n 1)"
[ "$signed:$longer:$code" = "Successfully signed:1:1" ] && grep -q "not signed" <<<"$verified" && grep -q "Not signed" <<<"$info" || { tail -n 5 steps.log; echo "changed"; exit 1; }
