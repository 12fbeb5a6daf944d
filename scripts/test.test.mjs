// What scripts/test.mjs makes of the output of `cargo test`. Run by `make test`.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { compiled, failures, program, runs, secondRuns, selection } from "./test.mjs";

const RED = (target, names) => `
running 2 tests
test ${names[0] ?? "x"} ... FAILED

failures:

---- ${names[0] ?? "x"} stdout ----
thread 'x' panicked at a.rs:1:1:
failures:
    not::a_name in what a test printed

failures:
${names.map((name) => `    ${name}\n`).join("")}
test result: FAILED. 1 passed; ${names.length} failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s

error: test failed, to rerun pass \`-p satchel-tests ${target}\`
`;

test("names the failed tests of each target", () => {
  const failed = failures(RED("--test auth", ["person::a"]) + RED("--test eras", ["sse::b", "sse::c"]));
  assert.deepEqual([...failed], [
    ["--test auth", ["person::a"]],
    ["--test eras", ["sse::b", "sse::c"]],
  ]);
});

test("runs a few tests again, and only those of test binaries", () => {
  assert.equal(secondRuns(failures(RED("--test auth", ["person::a"]))).length, 1);
  assert.deepEqual(secondRuns(failures(RED("--lib", ["config::a"]))), []);
  assert.deepEqual(secondRuns(failures(RED("--test auth", ["a", "b", "c", "d"]))), []);
  const both = failures(RED("--test auth", ["a"]) + RED("--lib", ["b"]));
  assert.deepEqual(secondRuns(both), []);
});

test("does not run a binary again that ended before it could say which test failed", () => {
  const crashed = "running 2 tests\nerror: test failed, to rerun pass `-p satchel-tests --test auth`\n  process didn't exit successfully (signal: 11)\n";
  assert.deepEqual(secondRuns(failures(crashed)), []);
  assert.deepEqual(secondRuns(failures("error: could not compile `satchel-core`\n")), []);
});

test("keeps the packages and features of the first run", () => {
  const args = ["--workspace", "--features", "a/b", "--test", "chaos", "--", "--test-threads", "8"];
  assert.deepEqual(selection(args), ["--workspace", "--features", "a/b"]);
});

test("gives each run beside the first its packages and features, and its own arguments", () => {
  const args = ["--workspace", "--features", "a/b", "--no-fail-fast", "--beside", "--test", "chaos", "--", "--test-threads", "8"];
  const [first, beside] = runs(args);
  assert.deepEqual(first, ["--workspace", "--features", "a/b", "--no-fail-fast"]);
  assert.deepEqual(beside, ["--workspace", "--features", "a/b", "--test", "chaos", "--", "--test-threads", "8"]);
  assert.deepEqual(compiled(first), ["--workspace", "--features", "a/b", "--no-run"]);
  assert.deepEqual(compiled(beside), ["--workspace", "--features", "a/b", "--test", "chaos", "--no-run"]);
  assert.deepEqual(runs(["--workspace"]), [["--workspace"]]);
});

test("runs a program beside the tests as it is", () => {
  const args = ["--workspace", "--no-fail-fast", "--beside", "--run", "npm", "test", "--beside", "--test", "chaos"];
  const [first, beside, chaos] = runs(args);
  assert.equal(program(first), null);
  assert.deepEqual(program(beside), ["npm", "test"]);
  assert.deepEqual(chaos, ["--workspace", "--test", "chaos"]);
});

test("a room of the map is found wherever it lies", () => {
  const script = fileURLToPath(new URL("room.sh", import.meta.url));
  const like = (...args) => execFileSync(script, ["--like", ...args], { encoding: "utf8" }).trim();
  assert.equal(like("trust"), "cargo test -p satchel-trust --lib --bins --");
  assert.equal(like("trust", "masks"), "cargo test -p satchel-trust --lib --bins -- masks");
  assert.equal(like("hub"), "cargo test -p satchel-core --lib -- hub::");
  assert.equal(like("secrets"), "cargo test -p satchel-upstream --lib -- secrets::");
  assert.equal(like("window"), "npm --prefix ui test --");
  const none = spawnSync(script, ["--like", "cellar"], { encoding: "utf8" });
  assert.deepEqual([none.status, none.stderr.includes("cellar")], [2, true]);
});
