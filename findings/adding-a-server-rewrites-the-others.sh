#!/usr/bin/env bash
# What: `codex mcp add` (@openai/codex 0.171.0) adds a server to a config.toml that has another server, with comments.
# Guess: the new table is appended and everything else stays as it is; Codex edits its file elsewhere with care for comments.
# Seen: outside `mcp_servers` every byte stays. Inside, the table of the other server is written anew: comments beside it and in its arrays are gone,
#   an inline table becomes a table of its own, an array of several lines becomes one line.
# Why it matters: a tool that gives a file back byte by byte, or takes a changed entry for an edit by a person, meets changes here that no
#   person made. Entries of Codex have to be compared by their values.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @openai/codex@0.171.0 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

export HOME="$work/home" CODEX_HOME="$work/home/.codex"
mkdir -p "$CODEX_HOME"
cat >"$CODEX_HOME/config.toml" <<'TOML'
# my settings
model = "x" # the model

[mcp_servers.docs] # my documents
command = "cat"
args = [
  "one", # the first
  "two",
]
env = { A = "1" }

[tui] # the terminal
TOML
cp "$CODEX_HOME/config.toml" before.toml
timeout 100 node_modules/.bin/codex mcp add other -- cat >add.log 2>&1 </dev/null || { tail -n 3 add.log; echo "changed"; exit 1; }
kept() { grep -qF -- "$1" "$CODEX_HOME/config.toml" && echo kept || echo gone; }
seen=""
for comment in '# my settings' '# the model' '# my documents' '# the first' 'env = { A = "1" }' '# the terminal'; do
  seen="$seen $(kept "$comment")"
done
echo "version:  @openai/codex 0.171.0"
echo "expected: one table more, nothing else"
echo "seen:"
diff before.toml "$CODEX_HOME/config.toml" | sed 's/^/          /'
[ "$seen" = " kept kept gone gone gone kept" ] && grep -qF '[mcp_servers.other]' "$CODEX_HOME/config.toml" || { echo "changed"; exit 1; }
