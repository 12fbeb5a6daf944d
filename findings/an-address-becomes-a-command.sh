#!/usr/bin/env bash
# What: `mcp add far https://mcp.example.com/mcp`, with no option, in Gemini CLI 0.61.0, Claude Code 2.1.197, Codex 0.171.0, opencode 1.18.33 (after `--`), Qwen
#   Code 0.24.4 and Copilot CLI 1.0.102.
# Guess: an entry for a hosted server, as an address can be nothing else; or a refusal that names the option.
# Seen: Gemini CLI, Claude Code, Codex and opencode say "added", exit with 0 and write the address as the program to start. Claude Code
#   adds a warning. Only Qwen Code (made from Gemini CLI) and Copilot write a hosted server.
# Why it matters: the files hold such entries, and the client shows a server that does not start. Who reads a file has to take a command that is an
#   address as one.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
npm install --prefix "$work" --no-audit --no-fund --loglevel error @google/gemini-cli@0.61.0 @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 \
  opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4 @github/copilot@1.0.102 >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -p home/.codex project
cd project || exit 2
cat >../entry.py <<'PY'
"""Prints how the entry `far` of any of these files runs: "program" or "address"."""
import json, sys, tomllib
text = open(sys.argv[1]).read()
settings = tomllib.loads(text) if sys.argv[1].endswith(".toml") else json.loads(text)
project = next(iter(settings.get("projects", {}).values()), {})
entry = [servers["far"] for servers in (settings.get("mcpServers"), settings.get("mcp_servers"), settings.get("mcp"), project.get("mcpServers")) if servers][0]
print("address" if any(key in entry for key in ("url", "httpUrl")) else "program" if entry["command"] in ("https://mcp.example.com/mcp", ["https://mcp.example.com/mcp"]) else entry)
PY
add() { # add NAME FILE PROGRAM ARGS…
  env HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_DATA_HOME="$work/home/.local" timeout 60 "../node_modules/.bin/$3" mcp add "${@:4}" >"../$1.log" 2>&1 </dev/null
  seen="$seen $1:$?:$(python3 ../entry.py "$2")"
}
seen=
add gemini .gemini/settings.json gemini far https://mcp.example.com/mcp
add claude ../home/.claude.json claude far https://mcp.example.com/mcp
add codex ../home/.codex/config.toml codex far https://mcp.example.com/mcp
add opencode ../home/.config/opencode/opencode.jsonc opencode far -- https://mcp.example.com/mcp
add qwen ../home/.qwen/settings.json qwen far https://mcp.example.com/mcp
add copilot ../home/.copilot/mcp-config.json copilot far https://mcp.example.com/mcp

echo "version:  Gemini CLI 0.61.0, Claude Code 2.1.197, Codex 0.171.0, opencode 1.18.33, Qwen Code 0.24.4, Copilot CLI 1.0.102"
echo "expected: an address in each"
echo "seen:    $seen"
[ "$seen" = " gemini:0:program claude:0:program codex:0:program opencode:0:program qwen:0:address copilot:0:address" ] ||
  { tail -n 2 ../*.log; echo "changed"; exit 1; }
