#!/bin/sh
# Installs what is missing to build Satchel; changes nothing and says nothing when everything is there.
#
#   scripts/setup.sh hub     the hub and the command line: a C compiler beside Rust
#   scripts/setup.sh app     also the window and the tray: WebKit and friends, Node
#   scripts/setup.sh model   what fetching the sentence model takes: Python
#   scripts/setup.sh tests   also private desktops, a keychain, browsers of other makes, and Python for the real servers
set -eu

need=${1:?one of hub, app, model, tests}

hub_packages="build-essential"
model_packages="build-essential python3 python3-venv"
app_packages="libwebkit2gtk-4.1-dev libayatana-appindicator3-dev librsvg2-dev pkg-config"
test_packages="dbus-daemon gnome-keyring libsecret-tools openbox strace webkit2gtk-driver x11-utils xdotool xvfb \
    git python3 python3-venv"

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

# Is one of these programs there?
has() {
    for program; do
        ! command -v "$program" >/dev/null || return 0
    done
    return 1
}

# The programs have other names elsewhere, and the packages too: where one is there, no package is asked for.
has chromium chromium-browser || test_packages="$test_packages chromium"
has firefox-esr firefox || test_packages="$test_packages firefox-esr"

case $need in
    hub) packages=$hub_packages ;;
    app) packages="$hub_packages $app_packages" ;;
    model) packages=$model_packages ;;
    tests) packages="$hub_packages $app_packages $test_packages" ;;
    *) fail "unknown: $need; expected hub, app, model or tests" ;;
esac

command -v cargo >/dev/null ||
    fail "Rust is missing. Install it from https://rustup.rs, open a new terminal and run this again."

if [ "$need" = app ] || [ "$need" = tests ]; then
    command -v node >/dev/null && command -v npm >/dev/null ||
        fail "Node.js with npm is missing; the window is built with it. Install version 20.19 or newer from https://nodejs.org and run this again."
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
        fail "Node.js $(node --version) is too old to build the window; install version 20.19 or newer from https://nodejs.org."
fi

if [ "$need" = tests ] && ! { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
    command -v rustup >/dev/null || fail "please install rustfmt and clippy; they check the code before the tests."
    rustup component add rustfmt clippy
fi

[ "$(uname -s)" = Linux ] || exit 0

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Not Debian or one of its descendants: name what is missing, leave installing to the person.
    missing=
    for program in cc make; do
        command -v $program >/dev/null || missing="$missing $program"
    done
    if [ "$need" = app ] || [ "$need" = tests ]; then
        for library in webkit2gtk-4.1 ayatana-appindicator3-0.1 librsvg-2.0; do
            pkg-config --exists $library 2>/dev/null || missing="$missing $library"
        done
    fi
    if [ "$need" = model ] && ! command -v python3 >/dev/null; then
        missing="$missing python3"
    fi
    if [ "$need" = tests ]; then
        for program in dbus-daemon gnome-keyring-daemon secret-tool openbox WebKitWebDriver xprop xdotool Xvfb \
            setpriv strace git python3; do
            command -v $program >/dev/null || missing="$missing $program"
        done
        has chromium chromium-browser || missing="$missing chromium"
        has firefox-esr firefox || missing="$missing firefox"
    fi
    [ -z "$missing" ] || fail "please install with your package manager (development files included):$missing"
    exit 0
fi

missing=
for package in $packages; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "please install as root: apt-get install$missing"
    as_root=sudo
fi
printf 'satchel: installing%s\n' "$missing"
$as_root apt-get -o Acquire::Retries=3 update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y -q --no-install-recommends $missing
