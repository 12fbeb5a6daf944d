#!/usr/bin/env bash
# What: `secret-tool store` (libsecret 0.20.5) on a bus with a fresh gnome-keyring-daemon 42.1 and no display, as over SSH or after automatic log-in.
# Guess: an error that says that there is no keyring yet, or that a question could not be shown. Or it waits for a password.
# Seen: at once "Object does not exist at path …/collection/login", exit code 1. The service runs, answers, and has one unlocked collection,
#   `session`, in which the same secret can be stored and found; it is in no file.
# Why it matters: "is there a keyring, and is it unlocked" is answered with yes, and reading works; only writing fails. What checks a
#   keychain has to ask for the default collection, and must not store into `session` for want of another.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for program in gnome-keyring-daemon dbus-run-session secret-tool gdbus; do command -v "$program" >/dev/null || missing=1; done
[ -z "${missing:-}" ] || apt-get install -y --no-install-recommends gnome-keyring dbus dbus-daemon libsecret-tools libglib2.0-bin >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

mkdir -m 700 home runtime
cat >ask.sh <<'SH'
secrets=/org/freedesktop/secrets
call() { gdbus call --session --dest org.freedesktop.secrets --object-path "$1" --method "${@:2}"; }
start() { gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1; for _ in $(seq 50); do call $secrets org.freedesktop.DBus.Peer.Ping >/dev/null 2>&1 && break; sleep 0.1; done; }
start
echo "default: $(call $secrets org.freedesktop.Secret.Service.ReadAlias default)"
echo "collections: $(call $secrets org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Service Collections)"
echo "session is locked: $(call $secrets/collection/session org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Locked)"
printf none | timeout 20 secret-tool store --label=garden for garden 2>&1 | grep -o 'Object does not exist at path.*login' || echo "stored or another error"
printf none | timeout 20 secret-tool store --collection=session --label=garden for garden && echo "in session: $(timeout 20 secret-tool lookup for garden)"
echo "files: $(find "$HOME" -name '*.keyring' | wc -l)"
SH
seen=$(env -u DISPLAY -u WAYLAND_DISPLAY HOME="$work/home" XDG_DATA_HOME="$work/home/.local/share" XDG_RUNTIME_DIR="$work/runtime" timeout 100 dbus-run-session -- bash ask.sh 2>bus.log)

echo "version:  gnome-keyring $(dpkg-query -W -f '${Version}' gnome-keyring), libsecret-tools $(dpkg-query -W -f '${Version}' libsecret-tools)"
echo "expected: an error that names the keyring or the question"
echo "$seen" | sed 's/^/seen:     /'
for line in "default: (objectpath '/',)" "session is locked: (<false>,)" "Object does not exist at path" "in session: none" "files: 0"; do
  grep -qF "$line" <<<"$seen" || { tail -n 3 bus.log; echo "changed: $line"; exit 1; }
done
