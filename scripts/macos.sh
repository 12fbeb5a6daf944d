#!/bin/sh
# Checks the types of every crate for macOS, on both processors, on another system; with rustup's Rust by Clippy and with
# the tests beside the code. Links nothing and runs nothing: that takes a Mac. Apple's headers for C code come with Zig, out of a
# Python package.
set -eu

cd "$(dirname "$0")/.."
triples="aarch64-apple-darwin x86_64-apple-darwin"
zig_version=0.17.1

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

target=$(mkdir -p "${CARGO_TARGET_DIR:-target}/macos" && cd "${CARGO_TARGET_DIR:-target}/macos" && pwd)
command -v python3 >/dev/null || fail "Python is missing; Zig comes as a package of it."
if [ ! -x "$target/zig/$zig_version" ]; then
    rm -rf "$target/zig"
    python3 -m venv "$target/zig"
    "$target/zig/bin/pip" install --quiet --disable-pip-version-check ziglang==$zig_version
    touch "$target/zig/$zig_version"
    chmod +x "$target/zig/$zig_version"
fi
# Zig's compiler names its targets itself; what build scripts say of them is left out. Objective-C needs headers that Zig has
# not, and nothing is linked: an empty file stands for it.
: >"$target/zig/empty.c"
for processor in aarch64 x86_64; do
    cat >"$target/zig/cc-$processor" <<EOF
#!/bin/sh
for word; do
    shift
    case \$word in
        --target=* | -arch | arm64 | x86_64 | -mmacosx-version-min=* | -mmacos-version-min=* | -isysroot) ;;
        *.m | *.mm) set -- "\$@" "$target/zig/empty.c" ;;
        *) set -- "\$@" "\$word" ;;
    esac
done
exec "$target/zig/bin/python" -m ziglang cc -target $processor-macos "\$@"
EOF
done
printf '#!/bin/sh\nexec "%s/zig/bin/python" -m ziglang ar "$@"\n' "$target" >"$target/zig/ar"
chmod +x "$target"/zig/cc-* "$target/zig/ar"

with_headers() {
    # Where build scripts ask for the system's directory, any will do: the headers are Zig's.
    env CC_aarch64_apple_darwin="$target/zig/cc-aarch64" AR_aarch64_apple_darwin="$target/zig/ar" \
        CC_x86_64_apple_darwin="$target/zig/cc-x86_64" AR_x86_64_apple_darwin="$target/zig/ar" \
        SDKROOT=/ CARGO_PROFILE_DEV_DEBUG=0 "$@"
}
# What `make native` lints on a Mac.
checked="--keep-going --locked --target-dir $target --workspace --exclude satchel-tests --all-targets"
for triple in $triples; do
    checked="$checked --target $triple"
done

missing=
installed=$(rustup target list --installed 2>/dev/null || true)
for triple in $triples; do
    printf '%s\n' "$installed" | grep -qx "$triple" || missing="$missing $triple"
done
if [ -z "$missing" ]; then
    # Checks the types on the way.
    with_headers cargo clippy $checked -- -D warnings
elif [ -x /usr/bin/cargo ] && version=$(/usr/bin/rustc --version 2>/dev/null | cut -d' ' -f2) &&
    [ -d "/usr/src/rustc-$version/library" ]; then
    # Debian's compiler has no Clippy of its version.
    with_headers env PATH="/usr/bin:/bin:$PATH" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        /usr/bin/cargo -Zbuild-std=std,panic_unwind,panic_abort check $checked
else
    fail "Rust for macOS is missing: rustup target add$missing, or on Debian apt-get install rustc-web cargo-web rust-web-src."
fi
