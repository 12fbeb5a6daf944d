#!/bin/sh
# Checks the types of the command line, and of all below it, for macOS on another system; with rustup's Rust by Clippy. Links
# nothing and runs nothing: that takes a Mac. Apple's headers for C code come with Zig, out of a Python package.
set -eu

cd "$(dirname "$0")/.."
triple=aarch64-apple-darwin
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
    # Zig's compiler names its targets itself; what build scripts say of them is left out.
    cat >"$target/zig/cc" <<EOF
#!/bin/sh
for word; do
    shift
    case \$word in
        --target=* | -arch | arm64 | -mmacosx-version-min=* | -isysroot) ;;
        *) set -- "\$@" "\$word" ;;
    esac
done
exec "$target/zig/bin/python" -m ziglang cc -target aarch64-macos "\$@"
EOF
    printf '#!/bin/sh\nexec "%s/zig/bin/python" -m ziglang ar "$@"\n' "$target" >"$target/zig/ar"
    touch "$target/zig/$zig_version"
    chmod +x "$target/zig/cc" "$target/zig/ar" "$target/zig/$zig_version"
fi

with_headers() {
    # Where build scripts ask for the system's directory, any will do: the headers are Zig's.
    env CC_aarch64_apple_darwin="$target/zig/cc" AR_aarch64_apple_darwin="$target/zig/ar" SDKROOT=/ \
        CARGO_PROFILE_DEV_DEBUG=0 "$@"
}
checked="--locked --target $triple --target-dir $target -p satchel-cli -p satchel-reaper"
if rustup target list --installed 2>/dev/null | grep -qx $triple; then
    # Checks the types on the way.
    with_headers cargo clippy $checked -- -D warnings
elif [ -x /usr/bin/cargo ] && version=$(/usr/bin/rustc --version 2>/dev/null | cut -d' ' -f2) &&
    [ -d "/usr/src/rustc-$version/library" ]; then
    # Debian's compiler has no Clippy of its version.
    with_headers env PATH="/usr/bin:/bin:$PATH" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        /usr/bin/cargo -Zbuild-std=std,panic_unwind,panic_abort check $checked
else
    fail "Rust for macOS is missing: rustup target add $triple, or on Debian apt-get install rustc-web cargo-web rust-web-src."
fi
