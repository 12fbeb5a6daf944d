#!/usr/bin/env bash
# What: three servers of one line each, whose authors state no version, written with mcp 1.30.0, mcp 2.3.0 and fastmcp 4.2.3, say who they are.
# Guess: `serverInfo.version` is the server's, or a placeholder such as 0.0.0 or 1.0.0.
# Seen: it is the version of the library: "1.30.0" and "4.2.3"; with mcp 2.3.0 it is an empty text.
# Why it matters: a server that updates keeps its version, and one that only got a newer library has another. What a hub, a catalogue or a client
#   remembers by name and version ("seen before", "approved", "speaks the newer revision") is remembered for the wrong thing, and dropped for no reason.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for package in mcp==1.30.0 mcp==2.3.0 fastmcp==4.2.3; do
  { python3 -m venv "$package" && "$package/bin/pip" install -q --disable-pip-version-check "$package"; } >install.log 2>&1 ||
    { tail -n 5 install.log; echo "could not install"; exit 2; }
done
server() {
  case $1 in
    mcp==1.30.0) echo 'from mcp.server.fastmcp import FastMCP; FastMCP("notes").run()' ;;
    mcp==2.3.0) echo 'from mcp.server.mcpserver import MCPServer; MCPServer("notes").run()' ;;
    fastmcp==4.2.3) echo 'from fastmcp import FastMCP; FastMCP("notes").run()' ;;
  esac
}
echo "version:  mcp 1.30.0 and 2.3.0, fastmcp 4.2.3"
echo "expected: a placeholder, the same in all"
seen=
for package in mcp==1.30.0 mcp==2.3.0 fastmcp==4.2.3; do
  answer=$(echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"finding","version":"1"}}}' |
    timeout 40 "$package/bin/python" -c "$(server "$package")" 2>server.log |
    python3 -c 'import json, sys; info = json.loads(sys.stdin.readline())["result"]["serverInfo"]; print(info["name"], json.dumps(info["version"]))' 2>>server.log)
  echo "seen:     $package: $answer"
  seen="$seen|$answer"
done
[ "$seen" = '|notes "1.30.0"|notes ""|notes "4.2.3"' ] || { tail -n 3 server.log; echo "changed"; exit 1; }
