#!/usr/bin/env bash
# What: a manifest for @anthropic-ai/mcpb 2.1.2 names the program `server/index.js` and a setting `${user_config.folder}` that it does not describe. The
#   folder has nothing but the manifest. `mcpb validate`, `mcpb pack`, `mcpb unpack`; then the same with an icon that is not there either.
# Guess: one of them says that the program or the setting is missing, as they do of an icon.
# Seen: a missing icon is refused. Without it: "Manifest schema validation passes!", a bundle of one file is packed and unpacked, and the exit code is 0
#   each time, with no word about the program or the setting.
# Why it matters: a bundle whose build step was forgotten goes out, and whoever installs it sees a server that ends at once with "Cannot find module", or
#   one that is given the letters "${user_config.folder}". A hub has to look for the program and the settings as it takes a bundle in.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @anthropic-ai/mcpb@2.1.2 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

manifest() { # an icon, or nothing
  cat <<JSON
{"manifest_version": "0.3", "name": "notes", "version": "1.0.0", "description": "Keeps notes", "author": {"name": "Finding"}, $1
 "server": {"type": "node", "entry_point": "server/index.js",
            "mcp_config": {"command": "node", "args": ["\${__dirname}/server/index.js", "\${user_config.folder}"]}}}
JSON
}
mkdir bundle
manifest "" >bundle/manifest.json
codes=
for step in "validate bundle/manifest.json" "pack bundle notes.mcpb" "unpack notes.mcpb unpacked"; do
  timeout 40 node_modules/.bin/mcpb $step >>steps.log 2>&1 </dev/null
  codes="$codes$?"
done
files=$(find unpacked -type f | wc -l | tr -d ' ')
lines=$(grep -ciE 'index\.js|user_config' steps.log)
manifest '"icon": "icon.png",' >bundle/manifest.json
icon=$(timeout 40 node_modules/.bin/mcpb validate bundle/manifest.json 2>&1 </dev/null | grep -o 'Icon file not found')
echo "version:  mcpb $(node_modules/.bin/mcpb --version)"
echo "expected: the missing program, setting and icon are named, with an exit code other than 0"
echo "seen:     exit codes $codes, files in the bundle $files, lines about program or setting $lines; with an icon: $icon"
[ "$codes" = 000 ] && [ "$files" = 1 ] && [ "$lines" = 0 ] && [ "$icon" = "Icon file not found" ] || { tail -n 5 steps.log; echo "changed"; exit 1; }
