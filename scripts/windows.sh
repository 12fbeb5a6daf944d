#!/bin/sh
# Builds the command line for Windows on Linux and runs its cases under Wine (tests/windows).
#
#   scripts/windows.sh                 installs what is missing, builds, runs; words after it pick cases
#   scripts/windows.sh --if-installed  the same, but installs nothing: says what is missing and ends well
#   scripts/windows.sh --check         runs Clippy on every crate, the app and the tests beside the code included, and nothing else
set -eu

cd "$(dirname "$0")/.."
triple=x86_64-pc-windows-gnu
packages="gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine wine64"
# rustup's own library for Windows where it is installed; otherwise Debian's compiler, which comes with its source.
web_packages="rustc-web cargo-web rust-web-src"

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

installing=yes check=
case ${1:-} in
    --if-installed)
        installing=no
        shift
        ;;
    --check) check=yes ;;
esac

if rustup target list --installed 2>/dev/null | grep -qx $triple; then
    rust=rustup
else
    rust=debian
    packages="$packages $web_packages"
fi

missing=
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    for package in $packages; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
            installed) ;;
            *) missing="$missing $package" ;;
        esac
    done
else
    [ $rust = rustup ] || missing=" the Rust target (rustup target add $triple)"
    for program in x86_64-w64-mingw32-gcc x86_64-w64-mingw32-g++ wine wineboot; do
        command -v $program >/dev/null || missing="$missing $program"
    done
    [ -z "$missing" ] || [ $installing = no ] || fail "please install with your package manager:$missing"
fi

if [ -n "$missing" ] && [ $installing = no ]; then
    printf 'satchel: SKIPPED the cases of Windows; `make windows` installs what they miss:%s\n' "$missing"
    exit 0
fi
if [ -n "$missing" ]; then
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "please install as root: apt-get install$missing"
        as_root=sudo
    fi
    printf 'satchel: installing%s\n' "$missing"
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
fi

target=$(mkdir -p "${CARGO_TARGET_DIR:-target}/windows" && cd "${CARGO_TARGET_DIR:-target}/windows" && pwd)
programs=$target/$triple/debug

# Debian names the kind of threads; elsewhere there is one.
mingw=x86_64-w64-mingw32-gcc
! command -v $mingw-posix >/dev/null || mingw=$mingw-posix
mingw_cxx=$(printf %s "$mingw" | sed 's/gcc/g++/')

for_windows() {
    env CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$mingw CARGO_PROFILE_DEV_DEBUG=0 \
        CC_x86_64_pc_windows_gnu=$mingw CXX_x86_64_pc_windows_gnu="$mingw_cxx" \
        AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar \
        "$@"
}
# Not $CARGO_TARGET_DIR: what is built for this system stays as it is.
build() {
    for_windows "$@" build --locked --target $triple --target-dir "$target" -p satchel-cli -p satchel-windows-server
}
if [ -n "$check" ]; then
    [ $rust = rustup ] || fail "Rust for Windows is missing: rustup target add $triple"
    # What `make native` lints on Windows.
    for_windows cargo clippy --keep-going --locked --target $triple --target-dir "$target" \
        --workspace --exclude satchel-tests --all-targets -- -D warnings
    exit 0
fi
if [ $rust = rustup ]; then
    build cargo
else
    # The library is compiled from its source, which must be of the compiler's own version.
    version=$(/usr/bin/rustc --version | cut -d' ' -f2)
    [ "$(/usr/bin/cargo --version | cut -d' ' -f2)" = "$version" ] ||
        fail "rustc-web and cargo-web are of different versions; run apt-get upgrade and this again."
    [ -d "/usr/src/rustc-$version/library" ] ||
        fail "the source of Rust $version is missing: rust-web-src is of another version than rustc-web."
    build env PATH="/usr/bin:/bin:$PATH" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        /usr/bin/cargo -Zbuild-std=std,panic_unwind,panic_abort
fi

# A Windows of our own, without the programs for .NET and the web that Wine would ask for.
export WINEPREFIX="$target/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" LC_ALL=C.UTF-8
system=$WINEPREFIX/drive_c/windows/system32
if [ ! -f "$WINEPREFIX/made" ]; then
    printf 'satchel: making a Windows in %s\n' "$WINEPREFIX"
    mkdir -p "$WINEPREFIX"
    # It is said to fail where the 32-bit half is missing, which nothing here needs.
    wineboot -i >/dev/null 2>&1 || true
    [ -d "$system" ] || fail "Wine made no Windows in $WINEPREFIX; run wineboot there to see why."
    # Wine 8 says that it is Windows 7, on which Node refuses to run.
    wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null
    touch "$WINEPREFIX/made"
fi
# Rust asks this library for random numbers. Wine 8 has none of that name.
if [ ! -f "$system/bcryptprimitives.dll" ]; then
    $mingw -shared -o "$system/bcryptprimitives.dll" tests/windows/bcryptprimitives.c -ladvapi32
fi

# Node for Windows out of a Python package, for the real servers from npm.
node=$target/node/nodejs
if [ ! -f "$node/node.exe" ] && [ $installing = yes ] && command -v npm >/dev/null; then
    scripts/real-servers.sh
    rm -rf "$target/node"
    "${CARGO_TARGET_DIR:-target}/real/python/bin/pip" download --quiet --disable-pip-version-check --no-deps \
        --platform win_amd64 --only-binary=:all: --dest "$target/wheels" nodejs-bin==18.4.0a4
    python3 -m zipfile -e "$target"/wheels/nodejs_bin-18.4.0a4-*.whl "$target/node"
fi
if [ -f "$node/node.exe" ] && [ -d "${CARGO_TARGET_DIR:-target}/real/node_modules" ]; then
    export SATCHEL_WINDOWS_NODE="$node"
fi

# One server of Wine's for all cases. The first program would start it otherwise, and it would hold that program's streams open.
server=$(command -v wineserver || command -v wineserver64 || echo /usr/lib/wine/wineserver64)
if [ -x "$server" ]; then
    "$server" -p </dev/null >/dev/null 2>&1 || true
    trap '"$server" -k >/dev/null 2>&1 || true' EXIT
fi

SATCHEL_WINDOWS="$programs" cargo test ${TESTED:---workspace} --test windows -- "$@"
