#!/bin/sh
# Makes installers for this system: the app with the command line beside it, which clients start as their bridge.
#
#   scripts/bundle.sh [KIND…]    deb, rpm; app, dmg; nsis, msi; all that this system makes when none is named
#
# PROFILE=debug packs a build for finding faults. TRIPLE names another target of Rust, or universal-apple-darwin; what was made
# for one lies in release-files/ of the target directory too. SATCHEL_SIGN_COMMAND signs a program of Windows, %1 being its path.
set -eu

# Of the same series as the tauri crates.
tauri_cli=2.12.5

target=${CARGO_TARGET_DIR:-target}
case ${PROFILE:-release} in
    release) profile= ;;
    debug) profile=--debug ;;
    *) printf 'satchel: PROFILE is release or debug, not %s\n' "$PROFILE" >&2 && exit 1 ;;
esac
host=$(rustc -vV | sed -n 's/^host: //p')
triple=${TRIPLE:-$host}
case $triple in
    *windows*) ending=.exe ;;
    *) ending= ;;
esac

# Builds the command line for one target; prints where it is.
command_line() {
    if [ -n "$profile" ]; then set -- "$1"; else set -- "$1" --release; fi
    if [ "$1" = "$host" ]; then
        cargo build -p satchel-cli ${2:-} >&2
        printf %s "$target/${PROFILE:-release}/satchel$ending"
    else
        cargo build -p satchel-cli ${2:-} --target "$1" >&2
        printf %s "$target/$1/${PROFILE:-release}/satchel$ending"
    fi
}

mkdir -p "$target/beside"
if [ "$triple" = universal-apple-darwin ]; then
    arm=$(command_line aarch64-apple-darwin)
    intel=$(command_line x86_64-apple-darwin)
    lipo -create -output "$target/beside/satchel-$triple" "$arm" "$intel"
    # Each half is built by itself, and looks for its own beside it.
    cp "$arm" "$target/beside/satchel-aarch64-apple-darwin"
    cp "$intel" "$target/beside/satchel-x86_64-apple-darwin"
else
    program=$(command_line "$triple")
    cp "$program" "$target/beside/satchel-$triple$ending"
fi
beside=$(cd "$target/beside" && pwd)/satchel

# Shell completions and manual pages, for the packages of Linux; elsewhere `satchel completions` and `satchel man` make them.
share=
case $triple in
    *linux*)
        share=$(cd "$target/beside" && pwd)/share
        rm -rf "$share"
        mkdir -p "$share"
        for shell in bash zsh fish; do "$beside-$triple" completions "$shell" >"$share/$shell"; done
        "$beside-$triple" man "$share/man1"
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
sign=
if [ -n "${SATCHEL_SIGN_COMMAND:-}" ]; then
    sign=", \"windows\": {\"signCommand\": $(node -p 'JSON.stringify(process.env.SATCHEL_SIGN_COMMAND)')}"
fi
# The window is built already: `make bundle` sees to it.
npx --yes "@tauri-apps/cli@$tauri_cli" build --ci $profile ${TRIPLE:+--target "$TRIPLE"} ${1:+--bundles "$@"} \
    --config "{\"build\": {\"beforeBuildCommand\": \"\"}, \"bundle\": {\"externalBin\": [\"$beside\"], \"resources\": $resources$linux$sign}}"

if [ -n "${TRIPLE:-}" ]; then
    mkdir -p "$target/release-files"
    # Installers alone: the directory of a macOS bundle is inside its image.
    find "$target/$TRIPLE/${PROFILE:-release}/bundle" -type f \( -name '*.deb' -o -name '*.rpm' -o -name '*.dmg' -o -name '*-setup.exe' -o -name '*.msi' \) \
        -exec cp {} "$target/release-files/" \;
fi
