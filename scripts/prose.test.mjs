// What scripts/prose.mjs finds wrong in documents and subjects. Run by `make test`.
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { anchors, avoidedPhrases, brokenLinks, commands, findingFaults, links, readerFault, subjectFault, unknownCommands } from "./prose.mjs";

test("headings are anchors as forges make them", () => {
  const text = "# What `x` costs, today\n\n## Twice\n\n```sh\n# no heading\n```\n\n## Twice\n";
  assert.deepEqual([...anchors(text)], ["what-x-costs-today", "twice", "twice-1"]);
});

test("addresses of the web and examples in code are no links", () => {
  const text = "[a](b.md#c) ![d](e.png) [f](https://example.com) `[g](h.md)`\n```\n[i](j.md)\n```\n";
  assert.deepEqual(links(text), ["b.md#c", "e.png"]);
});

test("a link to a missing file or heading is named, with its document", () => {
  const root = mkdtempSync(join(tmpdir(), "prose-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "README.md"), "[ok](docs/a.md#here) [gone](docs/b.md) [none](docs/a.md#there) [own](#top)\n# Top\n");
  writeFileSync(join(root, "docs/a.md"), "## Here\n[back](../README.md)\n");
  assert.deepEqual(brokenLinks(root, ["README.md", "docs/a.md"]), [
    "README.md: docs/b.md leads nowhere",
    "README.md: docs/a.md#there: docs/a.md has no heading of that name",
  ]);
});

test("a subject has an area, is imperative and short", () => {
  assert.equal(subjectFault("hub: keep sessions over a restart"), undefined);
  assert.equal(subjectFault("tests: embed the model"), undefined);
  assert.match(subjectFault("hub: the session is kept"), /imperative/);
  assert.match(subjectFault("hub: kept sessions need adding".replace("kept", "added")), /imperative/);
  assert.match(subjectFault("keep sessions"), /area/);
  assert.match(subjectFault(`hub: keep ${"x".repeat(80)}`), /72/);
});

test("a phrase that the glossary avoids is named, but not where it stands as code or as an example of what not to write", () => {
  assert.deepEqual(avoidedPhrases("a.md", "It waits.\n\nNobody sees it.\n"), ['a.md: "Nobody" is avoided; say who it is: you, a person, a program']);
  assert.equal(avoidedPhrases("a.md", "| what | test |\n|---|---|\n| whoever asks | none |\n").length, 1);
  assert.deepEqual(avoidedPhrases("a.md", "| not | but |\n|---|---|\n| A yes is none | It is ignored |\n\n`nobody`\n```\nwhat of it\n```\n"), []);
});

test("a page says at its beginning for whom it is", () => {
  assert.equal(readerFault("# Search\n\nFor people who search.\n"), undefined);
  assert.equal(readerFault("# Promises\n\nA register for people who change it.\n"), undefined);
  assert.match(readerFault("# Search\n\nHow it ranks.\n"), /for/);
});

test("a command, an option or a target that is not there is named, wherever it stands as code", () => {
  const known = commands("# x\n\n## `satchel add <NAME>`\n\n| `--url <URL>` | |\n\n## `satchel setup export <FILE>`\n\nWrites it.\n");
  assert.deepEqual([...known.keys()], ["add", "setup export"]);
  const wrong = (text) => unknownCommands("a.md", text, known, new Set(["run"]));
  assert.deepEqual(wrong("`satchel add x --url y`, `satchel setup export f --json`, `satchel setup`, `make run` and make do\n"), []);
  assert.deepEqual(wrong("```sh\nmake run && satchel add x --adress y   # adds\nsatchel add files -- npx --yes pkg\n```\n"), ["a.md: satchel add has no --adress"]);
  assert.deepEqual(wrong("`satchel adopt x` and `make shine`"), ["a.md: satchel adopt x is no command", "a.md: make shine is no target of the Makefile"]);
});

test("a finding without a row and a row with a test that is gone are named", () => {
  const table = "| what | test |\n|---|---|\n| [a](a.sh) | `it_is_kept` |\n| [b](b.sh) | none |\n";
  assert.deepEqual(findingFaults(table, ["a.sh", "b.sh"], "async fn it_is_kept() {"), []);
  assert.deepEqual(findingFaults(table, ["a.sh", "b.sh", "c.sh"], "fn it_is_kept_too() {"), [
    "findings/c.sh has no row in findings/README.md",
    "findings/README.md: there is no test it_is_kept",
  ]);
});
