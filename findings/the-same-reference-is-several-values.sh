#!/usr/bin/env bash
# What: one entry with references to variables in its arguments and its `env` (`${SET}`, `$SET`, `${UNSET}`, `${UNSET:-fallback}`), read by Claude Code
#   2.1.197, Gemini CLI 0.61.0 and Qwen Code 0.24.4, which is made from Gemini CLI.
# Guess: `${SET}` is filled in by all; an unset variable is empty, as in a shell; what holds for `env` holds for arguments.
# Seen: an unset variable stays as the text `${UNSET}`, except in `env` of Gemini CLI, where it is empty: two meanings in one entry. `$SET` is
#   text for Claude Code only. The fallback is known to Claude Code and Gemini CLI; Qwen Code passes its letters on.
# Why it matters: an entry that is taken from one client's file to another changes its meaning. A server is given the letters "${TOKEN}" as its
#   credential, and the service it calls answers "wrong token", not "missing".
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4 @anthropic-ai/claude-code@2.1.197 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import json, os, sys
with open(sys.argv[1], "w") as note:
    note.write(" | ".join(sys.argv[2:] + [os.environ.get(name, "-") for name in ("A", "B", "C", "D")]))
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = {"tools": []} if request["method"] == "tools/list" else {}
        if request["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "note", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
mkdir -p home/.gemini home/.qwen project
cd project || exit 2
entry() {
  cat <<JSON
{"mcpServers": {"note": {"command": "python3", "args": ["$work/server.py", "$work/$1.seen", "\${SET}", "\$SET", "\${UNSET}"],
  "env": {"A": "\${SET}", "B": "\$SET", "C": "\${UNSET}", "D": "\${UNSET:-fallback}"}}}}
JSON
}
echo "{\"$work/project\": \"TRUST_FOLDER\"}" | tee ../home/.gemini/trustedFolders.json >../home/.qwen/trustedFolders.json
entry gemini >../home/.gemini/settings.json
entry qwen >../home/.qwen/settings.json
entry claude >../home/.claude.json
for client in claude gemini qwen; do
  env -u UNSET HOME="$work/home" SET=garden timeout 60 "../node_modules/.bin/$client" mcp list >"../$client.log" 2>&1 </dev/null
done

echo "version:  Claude Code 2.1.197, Gemini CLI 0.61.0, Qwen Code 0.24.4"
echo 'written:  arguments ${SET} | $SET | ${UNSET}, then env ${SET} | $SET | ${UNSET} | ${UNSET:-fallback}'
echo "expected: garden | garden |  | garden | garden |  | fallback"
for client in claude gemini qwen; do echo "seen:     $(cat "../$client.seen")   ($client)"; done
[ "$(cat ../claude.seen)" = 'garden | $SET | ${UNSET} | garden | $SET | ${UNSET} | fallback' ] &&
  [ "$(cat ../gemini.seen)" = 'garden | garden | ${UNSET} | garden | garden |  | fallback' ] &&
  [ "$(cat ../qwen.seen)" = 'garden | garden | ${UNSET} | garden | garden | ${UNSET} | ${UNSET:-fallback}' ] || { echo "changed"; exit 1; }
