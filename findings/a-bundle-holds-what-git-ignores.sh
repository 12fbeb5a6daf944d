#!/usr/bin/env bash
# What: `mcpb pack` (@anthropic-ai/mcpb 2.1.2) of a folder with a `.gitignore` that names two files, as `npm pack` would be used.
# Guess: the bundle is named as the summary says, and holds no more than npm would publish.
# Seen: the summary says `filename: demo-1.2.3.mcpb`; the file written is named after the folder. Both ignored files are in it: only a `.mcpbignore`
#   counts, and a built-in list (`.git`, `.env`, logs). `init` writes the manifest version before the newest.
# Why it matters: a publisher who relies on `.gitignore` hands out local settings and keys. Who installs a bundle should look at the
#   list of its files, and its name says nothing about its version.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @anthropic-ai/mcpb@2.1.2 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir garden && cd garden || exit 2
echo '{"name": "demo", "version": "1.2.3", "main": "index.js"}' >package.json
echo 'console.log("hello")' >index.js
echo '{}' >settings.local.json
echo 'notes' >todo.txt
printf 'settings.local.json\ntodo.txt\n' >.gitignore
published=$(npm pack --dry-run --json 2>/dev/null | python3 -c 'import json, sys; print(" ".join(sorted(file["path"] for file in json.load(sys.stdin)[0]["files"])))')
{ timeout 60 ../node_modules/.bin/mcpb init -y . && timeout 60 ../node_modules/.bin/mcpb pack .; } >../pack.log 2>&1 </dev/null
named=$(sed -n 's/^filename: //p' ../pack.log)
written=$(ls -- *.mcpb)
packed=$(python3 -c 'import sys, zipfile; print(" ".join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))' "$written")
manifest=$(python3 -c 'import json; print(json.load(open("manifest.json"))["manifest_version"])')

echo "version:  @anthropic-ai/mcpb 2.1.2, npm $(npm --version)"
echo "expected: $named with manifest.json and what npm publishes: $published"
echo "seen:     $written with $packed; manifest version $manifest"
[ "$named $written $manifest" = "demo-1.2.3.mcpb garden.mcpb 0.2" ] && [ "$published" = "index.js package.json" ] &&
  [ "$packed" = "index.js manifest.json package.json settings.local.json todo.txt" ] || { tail -n 5 ../pack.log; echo "changed"; exit 1; }
