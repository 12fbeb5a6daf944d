#!/usr/bin/env bash
# What: `gemini mcp add NAME PROGRAM` (Gemini CLI 0.61.0) in the home folder, where a terminal begins; then the same in a folder of a project.
# Guess: the server is written to the person's own settings, or the command is refused because there is no project.
# Seen: it says "added to project settings" and exits with 0, and there is no file anywhere. In a project's folder a file appears. The
#   project's file would be the person's own one there, and it is written for neither.
# Why it matters: people follow a server's instructions in a fresh terminal, read "added", and have nothing; what reads the client's files
#   can only say that there is no server.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p home/project
add() { # add FOLDER: how it ended, and the files that have the server
  local code
  (cd "$1" && env HOME="$work/home" timeout 60 "$work/node_modules/.bin/gemini" mcp add garden python3 garden.py >"$work/add.log" 2>&1 </dev/null)
  code=$?
  grep -q 'added to project settings' add.log && said=added || said=$(tail -n 1 add.log)
  echo "$said, exit code $code, written to:$(cd home && grep -rl garden.py . 2>/dev/null | sed 's/^/ /')"
}
at_home=$(add home)
in_project=$(add home/project)

echo "version:  Gemini CLI 0.61.0"
echo "expected: one file each, or a refusal"
echo "seen:     at home: $at_home"
echo "          in a project: $in_project"
[ "$at_home" = "added, exit code 0, written to:" ] && [ "$in_project" = "added, exit code 0, written to: ./project/.gemini/settings.json" ] || { echo "changed"; exit 1; }
