#!/bin/sh
# Packs the command line of one target with its licences, completions and manual pages: what a package manager or an install
# script unpacks. It lies in release-files/ of the target directory.
#
#   TRIPLE=x86_64-unknown-linux-musl scripts/archive.sh
#
# BUILT=yes packs what `make bundle` has built for this target.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
host=$(rustc -vV | sed -n 's/^host: //p')
triple=${TRIPLE:-$host}
version=$(scripts/version.sh)
name=satchel-$version-$triple

# Prints the directory that the programs are in: the one that `make bundle` builds in, too.
build() {
    to=$target
    case $1 in
        # A fresh Windows has no vcruntime140.dll.
        *-msvc) export "CARGO_TARGET_$(printf %s "$1" | tr a-z- A-Z_)_RUSTFLAGS=-C target-feature=+crt-static" ;;
    esac
    if [ "$1" != "$host" ]; then
        to=$target/$1
        set -- --target "$1"
    else
        set --
    fi
    [ "${BUILT:-}" = yes ] || cargo build --release "$@" -p satchel-cli -p satchel-reaper >&2
    printf %s "$to/release"
}
ending=
case $triple in
    universal-apple-darwin)
        arm=$(build aarch64-apple-darwin)
        intel=$(build x86_64-apple-darwin)
        ;;
    *windows*)
        ending=.exe
        from=$(build "$triple")
        ;;
    *) from=$(build "$triple") ;;
esac

packed=$target/archive/$name
rm -rf "$packed"
mkdir -p "$packed" "$target/release-files"
program=$packed/satchel$ending
# The small program beside each server is not for Windows.
case $triple in *windows*) programs=satchel ;; *) programs="satchel satchel-reaper" ;; esac
for one in $programs; do
    if [ "$triple" = universal-apple-darwin ]; then
        lipo -create -output "$packed/$one" "$arm/$one" "$intel/$one"
    else
        cp "$from/$one$ending" "$packed/$one$ending"
    fi
done
cp LICENSE-APACHE LICENSE-MIT README.md "$packed/"
# A program of another machine cannot be asked for them.
if "$program" --version >/dev/null 2>&1; then
    mkdir -p "$packed/completions" "$packed/man1"
    for shell in bash zsh fish powershell; do "$program" completions $shell >"$packed/completions/satchel.$shell"; done
    "$program" man "$packed/man1"
fi
case $triple in
    *windows*) (cd "$target/archive" && 7z a -tzip -bso0 "../release-files/$name.zip" "$name") ;;
    *) tar -C "$target/archive" --owner=0 --group=0 --sort=name -czf "$target/release-files/$name.tar.gz" "$name" 2>/dev/null ||
        tar -C "$target/archive" -czf "$target/release-files/$name.tar.gz" "$name" ;;
esac
printf 'satchel: %s\n' "$target/release-files/$name"*
