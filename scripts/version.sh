#!/bin/sh
# Says whether the version is the same wherever it stands: the crates, the window, and the tag of a release.
#
#   scripts/version.sh               the crates and the window agree; prints the version
#   scripts/version.sh v1.2.3        so does this tag, and the changelog has a section for it
#   scripts/version.sh --notes TAG   that section
set -eu

cd "$(dirname "$0")/.."

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

notes=no
if [ "${1:-}" = --notes ]; then
    notes=yes
    shift
    [ -n "${1:-}" ] || fail "--notes wants a tag, such as v1.2.3."
fi

# Of `[workspace.package]` alone: dependencies have versions too.
crates=$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
window=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' ui/package.json)
[ -n "$crates" ] || fail "Cargo.toml names no version under [workspace.package]."
[ "$crates" = "$window" ] || fail "Cargo.toml says $crates and ui/package.json says $window; write the same into both."

if [ -n "${1:-}" ]; then
    [ "$1" = "v$crates" ] || fail "the tag is $1, and the sources are $crates; tag v$crates, or change Cargo.toml and ui/package.json."
    # Compared as text, because a version has dots in it.
    section=$(awk -v wanted="$crates" '/^## /{inside = ($2 == wanted); next} inside' CHANGELOG.md)
    [ -n "$(printf %s "$section" | tr -d '[:space:]')" ] ||
        fail "CHANGELOG.md has no section \"## $crates\"; write it below \"## Unreleased\"."
    if [ $notes = yes ]; then
        printf '%s\n' "$section"
        exit 0
    fi
fi
printf '%s\n' "$crates"
