// What scripts/tag.sh refuses to tag, and what it tags. In a repository of its own. Run by `make test`.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const here = dirname(fileURLToPath(import.meta.url));
const CHANGES = "# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- It begins.\n";

/** A repository of version 1.2.3, committed on main, with what differs written first. */
function repository(different = {}) {
  const root = mkdtempSync(join(tmpdir(), "tag-"));
  mkdirSync(join(root, "scripts"));
  mkdirSync(join(root, "ui"));
  for (const script of ["tag.sh", "version.sh"]) cpSync(join(here, script), join(root, "scripts", script));
  const files = { "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n', "ui/package.json": '{\n  "version": "1.2.3",\n}\n', "CHANGELOG.md": CHANGES, ...different };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const git = (...args) => execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], { cwd: root, encoding: "utf8", stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "x: begin");
  const env = { ...process.env, GIT_AUTHOR_NAME: "x", GIT_AUTHOR_EMAIL: "x@example.com", GIT_COMMITTER_NAME: "x", GIT_COMMITTER_EMAIL: "x@example.com" };
  const tag = () => spawnSync(join(root, "scripts/tag.sh"), { encoding: "utf8", env });
  return { root, git, tag, end: () => rmSync(root, { recursive: true }) };
}

test("what agrees is tagged once, and nothing is pushed", () => {
  const { git, tag, end } = repository();
  const first = tag();
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /git push origin v1\.2\.3/);
  assert.equal(git("tag", "-l", "-n1").trim().replace(/ +/, " "), "v1.2.3 Satchel 1.2.3");
  assert.match(tag().stderr, /v1\.2\.3 exists/);
  end();
});

test("what does not agree is refused, and says what to do", () => {
  const refused = (different, change, expected) => {
    const { root, git, tag, end } = repository(different);
    change(root, git);
    const { status, stderr } = tag();
    assert.equal(status, 1);
    assert.match(stderr, expected);
    assert.equal(git("tag", "-l"), "");
    end();
  };
  const nothing = () => {};
  refused({ "ui/package.json": '{\n  "version": "1.2.2",\n}\n' }, nothing, /write the same into both/);
  refused({ "CHANGELOG.md": "# Changelog\n\n## Unreleased\n" }, nothing, /no section "## 1\.2\.3"/);
  refused({ "CHANGELOG.md": CHANGES.replace("Unreleased\n", "Unreleased\n\n- More.\n") }, nothing, /lines under "## Unreleased"/);
  refused({}, (root) => writeFileSync(join(root, "new"), ""), /not committed/);
  refused({}, (_, git) => (git("switch", "-q", "-c", "work"), git("commit", "-q", "--allow-empty", "-m", "x: go on")), /not on main/);
});
