#!/bin/sh
# Tags the version of the sources as a release, once everything agrees: crates, window and changelog (scripts/version.sh), nothing under
# "Unreleased", nothing uncommitted, and the commit is on main. Pushes nothing: it prints the command that does.
set -eu

cd "$(dirname "$0")/.."

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

version=$(scripts/version.sh)
tag="v$version"
scripts/version.sh "$tag" >/dev/null
if awk '/^## /{inside = ($2 == "Unreleased"); next} inside && NF' CHANGELOG.md | grep -q .; then
    fail "CHANGELOG.md has lines under \"## Unreleased\"; move what this release brings into \"## $version\"."
fi
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed; commit or stash them."
git merge-base --is-ancestor HEAD main || fail "this commit is not on main; merge it first."
! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "$tag exists; raise the version in Cargo.toml and ui/package.json."

git tag -a "$tag" -m "Satchel $version"
printf 'Tagged %s as %s. To release it: git push origin %s\n' "$(git rev-parse --short HEAD)" "$tag" "$tag"
