#!/bin/sh
# Installs the command line of Satchel @VERSION@ for this user, without root. Run it again to install anew.
#
#   curl -fsSL @DOWNLOAD@/install.sh | sh
#
# SATCHEL_INSTALL_DIR    where the programs go; ~/.local/bin otherwise
# SATCHEL_DOWNLOAD       where the archives come from; what is fetched must have the checksums below all the same
set -eu

# All of it is read before any of it runs: half of a download does nothing.
main() {
    download=${SATCHEL_DOWNLOAD:-@DOWNLOAD@}
    home=${HOME:-}
    directory=${SATCHEL_INSTALL_DIR:-}
    if [ -z "$directory" ]; then
        [ -n "$home" ] || fail "HOME is not set; set SATCHEL_INSTALL_DIR to a directory for the programs."
        directory=$home/.local/bin
    fi

    case $(uname -s)/$(uname -m) in
        Linux/x86_64 | Linux/amd64)
            archive=@FILE:cli-linux-x64@
            sum=@SHA256:cli-linux-x64@
            ;;
        Linux/aarch64 | Linux/arm64)
            archive=@FILE:cli-linux-arm64@
            sum=@SHA256:cli-linux-arm64@
            ;;
        Darwin/*)
            archive=@FILE:cli-macos@
            sum=@SHA256:cli-macos@
            ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build it: https://github.com/@REPOSITORY@" ;;
    esac

    mkdir -p "$directory" || fail "cannot make $directory; set SATCHEL_INSTALL_DIR to a directory of yours."
    # On the same file system as the programs, so that moving them there is one step.
    work=$(mktemp -d "$directory/.satchel.XXXXXX") || fail "cannot write to $directory; set SATCHEL_INSTALL_DIR to a directory of yours."
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM

    say "Fetching $archive"
    fetch "$download/$archive" "$work/archive" || fail "cannot fetch $download/$archive; check the connection and try again."
    found=$(checksum "$work/archive")
    [ "$found" = "$sum" ] ||
        fail "$archive is not the file of this release and was not installed: its SHA-256 is $found, expected $sum."
    tar -xzf "$work/archive" -C "$work" || fail "$archive cannot be unpacked."
    for program in satchel satchel-reaper; do
        [ -f "$work/${archive%.tar.gz}/$program" ] || fail "$archive holds no $program."
    done
    for program in satchel-reaper satchel; do
        chmod 755 "$work/${archive%.tar.gz}/$program"
        mv -f "$work/${archive%.tar.gz}/$program" "$directory/$program"
    done
    version=$("$directory/satchel" --version) || fail "$directory/satchel does not run on this computer."

    say "Installed $version in $directory."
    case ":${PATH:-}:" in
        *":$directory:"*) ;;
        *) say "That directory is not on your PATH. Add it in your shell's own file: export PATH=\"$directory:\$PATH\"" ;;
    esac
    say "Next: satchel import --dry-run"
    say "To remove it: satchel leave && satchel quit && rm \"$directory/satchel\" \"$directory/satchel-reaper\""
}

say() {
    printf '%s\n' "$*"
}

fail() {
    printf 'satchel: %s\n' "$*" >&2
    exit 1
}

fetch() {
    # Only a server on this computer may be without encryption.
    case $1 in
        https://* | http://127.0.0.1:* | http://localhost:*) ;;
        *) fail "$1 is no https address." ;;
    esac
    if command -v curl >/dev/null; then
        curl -fsSL --retry 2 -o "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "neither curl nor wget is installed; install one of them and try again."
    fi
}

checksum() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d' ' -f1
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1" | cut -d' ' -f1
    else
        fail "neither sha256sum nor shasum is installed, so the download cannot be checked."
    fi
}

main
