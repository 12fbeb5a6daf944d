#!/usr/bin/env bash
# What: `skills add FOLDER -g -y -a claude-code` (skills 1.7.4) of a skill `plants`, where the person has a skill of their own with that name, with
#   notes beside it. skills keeps a list of what it installed; the own one is not in it.
# Guess: it refuses, because it did not install what is there; or it keeps a copy.
# Seen: the folder is replaced: the own SKILL.md and the notes are gone, with exit code 0 and no copy. The summary says "overwrites: Claude Code" and names
#   no file. Everything of the source folder but caches of Python is copied, `.env` and `node_modules` included.
# Why it matters: the name of a skill is chosen by its publisher, and common words are common. What installs skills into agents' folders must look
#   whether it wrote what is there, and leave the rest alone.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error skills@1.7.4 node@24.21.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

skill() { mkdir -p "$1" && printf -- '---\nname: plants\ndescription: %s\n---\nText.\n' "$2" >"$1/SKILL.md"; }
skill home/.claude/skills/plants 'My own.'
echo 'what I learnt' >home/.claude/skills/plants/notes.md
mkdir -p project/published/node_modules/dependency project/published/__pycache__
skill project/published 'Of a publisher.'
echo 'KEY=none' >project/published/.env
touch project/published/node_modules/dependency/index.js project/published/__pycache__/a.pyc
cd project || exit 2
env HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_STATE_HOME="$work/home/.local" DO_NOT_TRACK=1 DISABLE_TELEMETRY=1 timeout 60 \
  ../node_modules/node/bin/node ../node_modules/skills/bin/cli.mjs add ./published -g -y -a claude-code >../add.log 2>&1 </dev/null
code=$?
cd ../home/.claude/skills/plants || exit 1
files=$(find . -type f | sed 's,^\./,,' | LC_ALL=C sort | tr '\n' ' ')
described=$(sed -n 's/^description: //p' SKILL.md)
copies=$(grep -rl 'what I learnt' "$work/home" | wc -l)

echo "version:  skills 1.7.4, Node.js 24.21.0"
echo "expected: a refusal, or a copy of the own skill"
echo "seen:     exit code $code; the skill is now: $described Files: $files; copies of the notes: $copies; said: $(grep -o 'overwrites: [A-Za-z ]*[a-z]' "$work/add.log")"
[ "$code $described $copies" = "0 Of a publisher. 0" ] && [ "$files" = ".env SKILL.md node_modules/dependency/index.js " ] ||
  { tail -n 5 "$work/add.log"; echo "changed"; exit 1; }
