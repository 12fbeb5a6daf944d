#!/bin/sh
# Makes installers for this system: the app with the command line beside it, which clients start as their bridge, and the
# small program that runs beside each server.
#
#   scripts/bundle.sh [KIND…]    deb, rpm; app, dmg; nsis, msi; all that this system makes when none is named
#
# PROFILE=debug packs a build for finding faults.
set -eu

# Of the same series as the tauri crates.
tauri_cli=2.12.5

target=${CARGO_TARGET_DIR:-target}
case ${PROFILE:-release} in
    release) profile= release=--release ;;
    debug) profile=--debug release= ;;
    *) printf 'satchel: PROFILE is release or debug, not %s\n' "$PROFILE" >&2 && exit 1 ;;
esac
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
    *windows*) ending=.exe ;;
    *) ending= ;;
esac

cargo build $release -p satchel-cli -p satchel-reaper
mkdir -p "$target/beside"
for program in satchel satchel-reaper; do
    cp "$target/${PROFILE:-release}/$program$ending" "$target/beside/$program-$host$ending"
done
beside=$(cd "$target/beside" && pwd)/satchel
# Only Linux has it beside each server (`upstream/leash.rs`); on macOS it is the warden alone, on Windows nothing.
programs="\"$beside\""
case $host in *windows*) ;; *) programs="$programs, \"$beside-reaper\"" ;; esac

# Shell completions and manual pages, for the packages of Linux; elsewhere `satchel completions` and `satchel man` make them.
share=
case $host in
    *linux*)
        share=$(cd "$target/beside" && pwd)/share
        rm -rf "$share"
        mkdir -p "$share"
        for shell in bash zsh fish; do "$beside-$host" completions "$shell" >"$share/$shell"; done
        "$beside-$host" man "$share/man1"
        gzip -9n "$share"/man1/*.1
        ;;
esac
# Debian and Fedora look for zsh's in different places.
files() {
    printf '{"/usr/share/bash-completion/completions/satchel": "%s/bash", "%s/_satchel": "%s/zsh", ' "$share" "$1" "$share"
    printf '"/usr/share/fish/vendor_completions.d/satchel.fish": "%s/fish", "/usr/share/man/man1": "%s/man1"}' "$share" "$share"
}
linux=
if [ -n "$share" ]; then
    linux=", \"linux\": {\"deb\": {\"files\": $(files /usr/share/zsh/vendor-completions)}, \"rpm\": {\"files\": $(files /usr/share/zsh/site-functions)}}"
fi
# The sentence model lies beside the program, with its licence: `make bundle` has fetched it. `hub/sentences.rs` looks there.
model=$(cd "$target/model" && pwd)
name=all-MiniLM-L6-v2
resources="{\"$model/$name.int8\": \"$name.int8\", \"$model/LICENSE\": \"$name.LICENSE\", \"$model/NOTICE\": \"$name.NOTICE\"}"
# The window is built already: `make bundle` sees to it.
npx --yes "@tauri-apps/cli@$tauri_cli" build --ci $profile ${1:+--bundles "$@"} \
    --config "{\"build\": {\"beforeBuildCommand\": \"\"}, \"bundle\": {\"externalBin\": [$programs], \"resources\": $resources$linux}}"
