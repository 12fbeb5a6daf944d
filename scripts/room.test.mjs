// Every room on the map of ARCHITECTURE.md has a command that runs its tests, as the map writes its name and short. Runs none of them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const here = dirname(fileURLToPath(import.meta.url));
const like = (room) => spawnSync(join(here, "room.sh"), ["--like", room], { encoding: "utf8" });

test("each room of the map is found by its name", () => {
  const map = readFileSync(join(here, "../ARCHITECTURE.md"), "utf8");
  const rooms = [...map.matchAll(/^\| \d \| `([a-z_:]+)`/gm)].map(([, room]) => room);
  assert.ok(rooms.length > 30, String(rooms));
  for (const room of rooms)
    for (const spelling of [room, room.split("::").at(-1), room.replace("satchel_core::", "").replace("satchel_", "")]) {
      const { status, stdout, stderr } = like(spelling);
      assert.equal(status, 0, `${spelling}: ${stderr}`);
      assert.match(stdout, /^cargo test -p satchel-/);
    }
});

test("a room whose name a program has, too, is the library's", () => {
  assert.equal(like("satchel_core::bridge").stdout, "cargo test -p satchel-core --lib -- bridge::\n");
});

test("a room that is not there is refused with where the map is", () => {
  const { status, stderr } = like("attic");
  assert.equal(status, 2);
  assert.match(stderr, /no room "attic"; ARCHITECTURE\.md has the map/);
});
