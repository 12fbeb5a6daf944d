#!/bin/sh
# Makes installers for this system: the app with the command line beside it, which clients start as their bridge, and the
# small program that runs beside each server.
#
#   scripts/bundle.sh [KIND…]    deb, rpm; app, dmg; nsis, msi; all that this system makes when none is named
#   scripts/bundle.sh --tauri    prints the version of Tauri's command line
#
# PROFILE=debug packs a build for finding faults. TRIPLE names another target of Rust, or universal-apple-darwin; what was made
# for one lies in release-files/ of the target directory too. SATCHEL_UPDATE_ADDRESS and SATCHEL_UPDATE_KEY are built in: where newer
# versions are told, and the public key of Tauri's signer that they are signed with; without them the app looks for none. SATCHEL_SIGN_COMMAND signs a program of Windows, %1 being its path.
set -eu

# Of the same series as the tauri crates.
tauri_cli=2.12.5
if [ "${1:-}" = --tauri ]; then
    printf '%s\n' "$tauri_cli"
    exit 0
fi

target=${CARGO_TARGET_DIR:-target}
case ${PROFILE:-release} in
    release) profile= release=--release ;;
    debug) profile=--debug release= ;;
    *) printf 'satchel: PROFILE is release or debug, not %s\n' "$PROFILE" >&2 && exit 1 ;;
esac
host=$(rustc -vV | sed -n 's/^host: //p')
triple=${TRIPLE:-$host}
case $triple in
    *windows*) ending=.exe ;;
    *) ending= ;;
esac

# Builds the programs for one target, and with them the app if it is named; prints the directory that they are in.
built() {
    to=$target
    of=$1
    shift
    if [ "$of" != "$host" ]; then
        to=$target/$of
        set -- "$@" --target "$of"
    fi
    case $of in
        # A fresh Windows has no vcruntime140.dll.
        *-msvc) export "CARGO_TARGET_$(printf %s "$of" | tr a-z- A-Z_)_RUSTFLAGS=-C target-feature=+crt-static" ;;
    esac
    cargo build $release -p satchel-cli -p satchel-reaper "$@" >&2
    printf %s "$to/${PROFILE:-release}"
}

mkdir -p "$target/beside"
if [ "$triple" = universal-apple-darwin ]; then
    arm=$(built aarch64-apple-darwin)
    intel=$(built x86_64-apple-darwin)
    for program in satchel satchel-reaper; do
        lipo -create -output "$target/beside/$program-$triple" "$arm/$program" "$intel/$program"
        # Each half is built by itself, and looks for its own beside it.
        cp "$arm/$program" "$target/beside/$program-aarch64-apple-darwin"
        cp "$intel/$program" "$target/beside/$program-x86_64-apple-darwin"
    done
else
    # By themselves, the app and the command line have other features, so that everything would be compiled twice. Elsewhere,
    # Tauri sets more than features for the app: the oldest macOS, how Windows' libraries are linked.
    case $triple in
        *linux*) from=$(built "$triple" -p satchel-app) ;;
        *) from=$(built "$triple") ;;
    esac
    for program in satchel satchel-reaper; do
        cp "$from/$program$ending" "$target/beside/$program-$triple$ending"
    done
fi
beside=$(cd "$target/beside" && pwd)/satchel
# Only Linux has it beside each server (`upstream/subreaper.rs`); on macOS it is the watchdog alone, on Windows nothing.
programs="\"$beside\""
case $triple in *windows*) ;; *) programs="$programs, \"$beside-reaper\"" ;; esac

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
        cat >"$share/copyright" <<END
Satchel may be used under the Apache License, version 2.0, or the MIT license, whichever you like. Both are in
/usr/share/doc/satchel. The sentence model has its own license and notice, in /usr/lib/Satchel.
END
        ;;
esac
# Debian and Fedora look for zsh's in different places.
files() {
    printf '{"/usr/share/bash-completion/completions/satchel": "%s/bash", "%s/_satchel": "%s/zsh", ' "$share" "$1" "$share"
    printf '"/usr/share/fish/vendor_completions.d/satchel.fish": "%s/fish", "/usr/share/man/man1": "%s/man1", ' "$share" "$share"
    for text in LICENSE-APACHE LICENSE-MIT; do printf '"/usr/share/doc/satchel/%s": "%s/%s", ' $text "$PWD" $text; done
    printf '"/usr/share/doc/satchel/copyright": "%s/copyright"}' "$share"
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
# The window is built already: `make bundle` sees to it. On Linux the app is, too.
packing=build of=${TRIPLE:-} made=$target${TRIPLE:+/$TRIPLE}/${PROFILE:-release}
case $triple in
    *linux*)
        packing=bundle of=$triple made=$from
        [ "$triple" != "$host" ] || of=
        ;;
esac
npx --yes "@tauri-apps/cli@$tauri_cli" $packing --ci $profile ${of:+--target "$of"} ${1:+--bundles "$@"} \
    --config "{\"build\": {\"beforeBuildCommand\": \"\"}, \"bundle\": {\"externalBin\": [$programs], \"resources\": $resources$linux$sign}}"

if [ -n "${TRIPLE:-}" ]; then
    mkdir -p "$target/release-files"
    # Installers alone: the directory of a macOS bundle is inside its image.
    find "$made/bundle" -type f \( -name '*.deb' -o -name '*.rpm' -o -name '*.dmg' -o -name '*-setup.exe' -o -name '*.msi' \) \
        -exec cp {} "$target/release-files/" \;
    # What an installed app on macOS replaces itself with. Its name says the version, and is signed with it.
    app=$made/bundle/macos
    if [ -d "$app/Satchel.app" ]; then
        tar -C "$app" -czf "$target/release-files/Satchel_$(scripts/version.sh)_universal.app.tar.gz" Satchel.app
    fi
fi
