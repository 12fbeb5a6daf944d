#!/bin/sh
# Looks for texts that a target of `fuzz/` does not stand, guided by coverage, and keeps what reached something new.
#   scripts/fuzz.sh SECONDS [TARGET...]
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
root=${CARGO_TARGET_DIR:-target}
case $root in /*) ;; *) root=$PWD/$root ;; esac
work=$root/fuzzing

if ! command -v cargo-fuzz >/dev/null; then
    echo "cargo-fuzz is installed first."
    cargo install cargo-fuzz --locked
fi
# Without link-time optimisation, which takes longer here than it saves; with the checks of a debug build.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
cargo fuzz build --fuzz-dir fuzz --target-dir "$work/build" --sanitizer none --features libfuzzer guided
unset CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_CODEGEN_UNITS CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS
program=$(find "$work/build" -path '*/release/guided' -type f | head -n 1)

corpora() {
    SATCHEL_CORPUS=$work/corpus SATCHEL_CORPUS_DO=$1 cargo test --quiet -p satchel-fuzz --test corpora -- --ignored >/dev/null
}
corpora unpack
[ $# -gt 0 ] || set -- $(ls "$work/corpus")
found=0
for target in "$@"; do
    mkdir -p "$work/found/$target"
    if SATCHEL_FUZZ=$target "$program" "$work/corpus/$target" -artifact_prefix="$work/found/$target/" \
        -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=8192 >"$work/$target.log" 2>&1
    then
        echo "$target: $(grep -E '^#[0-9]+.*DONE' "$work/$target.log" | tail -n 1)"
    else
        found=1
        echo "$target: FOUND something, see $work/$target.log and $work/found/$target"
    fi
done
corpora pack
exit $found
