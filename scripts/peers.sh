#!/bin/sh
# Installs the hubs that `make bench PEERS=1` measures beside Satchel below the target directory, at pinned versions. One that
# cannot be installed is named and left out.
set -eu

cd "$(dirname "$0")/.."
peers=${CARGO_TARGET_DIR:-target}/peers
mkdir -p "$peers"

# NAME REQUIREMENT…: a package from PyPI in an environment of its own.
python() {
    name=$1
    shift
    [ "$(cat "$peers/$name.installed" 2>/dev/null)" != "$*" ] || return 0
    rm -f "$peers/$name.installed"
    python3 -m venv --clear "$peers/$name"
    if "$peers/$name/bin/pip" install --quiet --disable-pip-version-check "$@"; then
        printf '%s\n' "$*" >"$peers/$name.installed"
    else
        rm -rf "${peers:?}/$name"
        echo "satchel: $name cannot be installed, so it is not measured" >&2
    fi
}

npm_packages="mcp-proxy@6.7.19 mcp-hub@4.2.1 supergateway@4.0.0"
if [ "$(cat "$peers/npm.installed" 2>/dev/null)" != "$npm_packages" ]; then
    rm -rf "$peers/npm"
    mkdir -p "$peers/npm"
    echo '{"name": "peers", "private": true}' >"$peers/npm/package.json"
    # shellcheck disable=SC2086
    if (cd "$peers/npm" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error $npm_packages); then
        printf '%s\n' "$npm_packages" >"$peers/npm.installed"
    else
        rm -rf "$peers/npm"
        echo "satchel: the hubs of npm cannot be installed, so they are not measured" >&2
    fi
fi
python fastmcp "fastmcp==4.1.2"
python mcp-proxy "mcp-proxy==0.13.0" "mcp<2"
