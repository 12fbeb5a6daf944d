#!/usr/bin/env bash
# What: `mcp list` of Gemini CLI 0.61.0 and of Claude Code 2.1.197 starts a server whose entry names no variables; the server notes which of the
#   person's variables it was given.
# Guess: either all variables of the terminal or a short list of safe ones, as the libraries do; in both clients the same.
# Seen: Claude Code passes all of them on. Gemini CLI passes what its name does not make look like a credential: a made-up variable and
#   `AWS_PROFILE` arrive; `GITHUB_TOKEN`, `DATABASE_URL`, `PGPASSWORD`, `SSH_AUTH_SOCK` and `NODE_EXTRA_CA_CERTS` do not.
# Why it matters: an entry that works in one client without saying which variables it needs fails in another one, behind a company's certificate
#   even at its first connection. What takes an entry over has to give the variables by name.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 @anthropic-ai/claude-code@2.1.197 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >server.py <<'PY'
import json, os, sys
NAMES = "GARDEN AWS_PROFILE GITHUB_TOKEN DATABASE_URL PGPASSWORD SSH_AUTH_SOCK NODE_EXTRA_CA_CERTS".split()
with open(sys.argv[1], "w") as note:
    note.write(" ".join(name for name in NAMES if name in os.environ))
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = {"tools": []} if request["method"] == "tools/list" else {}
        if request["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "note", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
mkdir -p home/.gemini project
cd project || exit 2
entry() { echo "{\"mcpServers\": {\"note\": {\"command\": \"python3\", \"args\": [\"$work/server.py\", \"$work/$1.seen\"]}}}"; }
echo "{\"$work/project\": \"TRUST_FOLDER\"}" >../home/.gemini/trustedFolders.json
entry gemini >../home/.gemini/settings.json
entry claude >../home/.claude.json
touch ../certificates.pem
values="GARDEN=1 AWS_PROFILE=work GITHUB_TOKEN=none DATABASE_URL=none PGPASSWORD=none SSH_AUTH_SOCK=$work/agent NODE_EXTRA_CA_CERTS=$work/certificates.pem"
for client in gemini claude; do
  env HOME="$work/home" $values timeout 60 "../node_modules/.bin/$client" mcp list >"../$client.log" 2>&1 </dev/null
done

echo "version:  Gemini CLI 0.61.0, Claude Code 2.1.197"
echo "expected: the same variables from both"
for client in claude gemini; do echo "seen:     $client: $(cat "../$client.seen")"; done
[ "$(cat ../claude.seen)" = "GARDEN AWS_PROFILE GITHUB_TOKEN DATABASE_URL PGPASSWORD SSH_AUTH_SOCK NODE_EXTRA_CA_CERTS" ] &&
  [ "$(cat ../gemini.seen)" = "GARDEN AWS_PROFILE" ] || { echo "changed"; exit 1; }
