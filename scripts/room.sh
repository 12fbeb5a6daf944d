#!/bin/sh
# Runs the tests of one room, or those whose names contain a word.
#
#   scripts/room.sh ROOM [TEST]   the tests beside the code of a room on the map of ARCHITECTURE.md, such as trust or
#                                 satchel_core::hub; `window` names those of the window's parts; TEST picks some of them
#   scripts/room.sh --like ROOM [TEST]
#                                 prints the command instead
set -eu

cd "$(dirname "$0")/.."

print=no
if [ "${1:-}" = --like ]; then
    print=yes
    shift
fi
room=${1:?a room, such as trust}
name=${2:-}

# As the map writes it, `satchel_core::hub` or `satchel_endpoint`, or short.
room=${room##*::}
room=${room#satchel[_-]}

run() {
    if [ $print = yes ]; then
        printf '%s\n' "$*"
        exit 0
    fi
    exec "$@"
}

case $room in
    window) run npm --prefix ui test -- ${name:+-t "$name"} ;;
    app) run cargo test -p satchel-app --lib --bins -- ${name:+"$name"} ;;
esac

# A crate of its own.
if [ -d "crates/satchel-$room" ]; then
    run cargo test -p "satchel-$room" --lib --bins -- ${name:+"$name"}
fi

# A room within a crate: the names of its tests begin with it.
for place in crates/*/src/"$room" crates/*/src/"$room".rs; do
    [ -e "$place" ] || continue
    crate=$(basename "$(dirname "$(dirname "$place")")")
    # Rooms are parts of libraries.
    [ -e "crates/$crate/src/lib.rs" ] || continue
    if [ -n "$name" ]; then
        # Cargo takes one name. The room's tests are few enough to look through.
        tests=$(cargo test -q -p "$crate" --lib -- --list "$room::" | sed -n 's/: test$//p' | grep -F -- "$name") ||
            { echo "satchel: no test of $room has \"$name\" in its name." >&2; exit 1; }
        # shellcheck disable=SC2086 # Names of tests have no spaces.
        run cargo test -p "$crate" --lib -- --exact $tests
    fi
    run cargo test -p "$crate" --lib -- "$room::"
done

echo "satchel: there is no room \"$room\"; ARCHITECTURE.md has the map." >&2
exit 2
