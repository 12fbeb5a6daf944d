// Which apps are shown, and how they stand, from what the hub knows of their settings.
import { render } from "@testing-library/svelte";
import { expect, test } from "vitest";

import table from "../../../crates/satchel-clients/src/table.json";
import type { KnownClient } from "../lib/hub/generated";
import { client, preview } from "../lib/hub/pretend";
import { speak } from "../words";
import { de } from "../words/de";
import { en } from "../words/en";
import Diff from "./Diff.svelte";
import { known, lastStep, nameOf, WINDOW } from "./names";
import { isConnectable, isShown, standings, twice } from "./standing";

const vanished = { state: "needs_you", what: "vanished", message: "" } as const;

test("programs that are not here are not shown, and one whose entry vanished is", () => {
  const all = [
    client("a", "A", "a", { state: "not_connected" }, { installed: false }),
    client("b", "B", "b", { state: "not_connected" }),
    client("c", "C", "c", vanished, { installed: false }),
    client("d", "D", "d", { state: "paste" }),
  ];
  const shown = all.filter(isShown);
  expect(shown.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(standings(shown, [], 0).map(({ id, group }) => [id, group])).toEqual([["c", "needs-you"], ["b", "found"]]);
});

test("one that was just added waits, and needs nobody", () => {
  const [added] = standings([client("a", "A", "a", { state: "added" })], [], 0);
  expect([added?.group, added?.tone]).toEqual(["waiting", "plain"]);
});

test("one that made requests before this start says so, and not that it used no tool", () => {
  const before = client("a", "A", "a", { state: "connected", since_ms: 1 });
  expect(standings([before], [], 0)[0]?.sentence).toBe("Connected · not seen since Satchel started");
  expect(standings([before], [{ id: "a", requests: 1, last_call: "x:y", last_seen_ms: 0 }], 2_000)[0]?.sentence).toMatch(/^Connected · y /);
});

test("only what has Satchel loads a server twice", () => {
  const duplicates = [{ here: "github", there: "github" }] as unknown as KnownClient["duplicates"];
  const states = [{ state: "not_connected" }, { state: "added" }, { state: "connected", since_ms: 1 }] as const;
  expect(states.map((state) => twice(client("a", "A", "a", state, { duplicates })).length)).toEqual([0, 1, 1]);
});

test("what cannot be read is not connected over, and a moved address is put right by connecting again", () => {
  const needs = (what: string) => client("a", "A", "a", { state: "needs_you", what, message: "" });
  expect(["vanished", "edited", "moved", "unreadable"].map((what) => isConnectable(needs(what)))).toEqual([true, true, true, false]);
});

test("a client that was never connected and cannot be needs nobody", () => {
  const damaged = client("a", "A", "a", { state: "unreadable", message: "a: line 1" });
  expect([isConnectable(damaged), standings([damaged], [], 0)[0]?.group]).toEqual([false, "found"]);
});

test("a last step says what to do, and nothing where nothing is to be done", () => {
  expect(["Nothing.", "Nothing; the file is watched.", "Restart amp.", null].map(lastStep)).toEqual(["", "The file is watched.", "Restart amp.", ""]);
  speak("de", de);
  expect(["Nothing.", "Nothing; the file is watched.", "Restart amp."].map(lastStep)).toEqual(["", "Die Datei wird beobachtet.", "Starte amp neu."]);
  speak("en", en);
});

test("a change is shown line by line, without what a patch says of itself", () => {
  const { container } = render(Diff, { change: preview(client("zed", "Zed", "zed.json", vanished)) });
  const lines = [...container.querySelectorAll("span")].map((line) => line.textContent);
  expect(lines).toHaveLength(6);
  expect(lines[1]).toBe('+     "satchel": {');
  expect(container.querySelectorAll(".plus")).toHaveLength(4);
});

test("a client goes by the name that the hub gives it, wherever it stands", () => {
  expect(known).toEqual(Object.fromEntries(table.clients.map(({ id, name }) => [id, name.split(" (", 1)[0]])));
});

test("the window has a name in each language, and other programs keep theirs", () => {
  const names = () => [WINDOW, "cursor", "my-own"].map(nameOf);
  expect(names()).toEqual(["Satchel window", "Cursor", "my-own"]);
  speak("de", de);
  expect(names()).toEqual(["Satchel-Fenster", "Cursor", "my-own"]);
  speak("en", en);
});
