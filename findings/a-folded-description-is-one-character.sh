#!/usr/bin/env bash
# What: a skill's description is folded over two lines (`description: >`), as many are. openskills 1.5.0 lists it and writes it to AGENTS.md; skills-ref 0.1.1,
#   the reference library, reads it too. A second skill has a description with a colon in it, "Use when: …".
# Guess: both read the first; the second is refused, because it is no YAML, or taken by both.
# Seen: for openskills the first description is ">", also in AGENTS.md, and it reads the second as it stands; skills-ref reads the first, and
#   refuses the second with "mapping values are not allowed here".
# Why it matters: the description is all that a model has to choose by, and ">" says nothing; the skill is there and never used. "Works in one agent" is no
#   proof for another. What writes skills is safe with one plain line in quotation marks.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check skills-ref==0.1.1 &&
  npm install --prefix "$work" --no-audit --no-fund --loglevel error openskills@1.5.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p home project/.claude/skills/reports project/.claude/skills/weather
cd project || exit 2
printf -- '---\nname: reports\ndescription: >\n  Writes the weekly report\n  from a list of tickets.\n---\nText.\n' >.claude/skills/reports/SKILL.md
printf -- '---\nname: weather\ndescription: Use when: a person asks for the weather.\n---\nText.\n' >.claude/skills/weather/SKILL.md
HOME="$work/home" timeout 60 ../node_modules/.bin/openskills sync -y >../sync.log 2>&1 </dev/null
written() { grep -A 1 "<name>$1</name>" AGENTS.md | sed -n 's/.*<description>\(.*\)<\/description>.*/\1/p'; }
read_by_reference() { ../venv/bin/agentskills read-properties ".claude/skills/$1" 2>&1 | grep -oE '"description": .*[^,]|mapping values are not allowed here' | head -n 1; }
echo "version:  openskills 1.5.0, skills-ref 0.1.1"
echo "expected: Writes the weekly report from a list of tickets. (both); the second the same in both"
echo "seen:     reports: openskills: $(written reports) | skills-ref: $(read_by_reference reports)"
echo "seen:     weather: openskills: $(written weather) | skills-ref: $(read_by_reference weather)"
[ "$(written reports)" = ">" ] && [ "$(read_by_reference reports)" = '"description": "Writes the weekly report from a list of tickets."' ] &&
  [ "$(written weather)" = "Use when: a person asks for the weather." ] && [ "$(read_by_reference weather)" = "mapping values are not allowed here" ] || { tail -n 3 ../sync.log; echo "changed"; exit 1; }
