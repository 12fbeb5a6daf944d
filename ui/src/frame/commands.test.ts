// What the palette finds, and in which order.
import { expect, test } from "vitest";

import type { ToolLine } from "../lib/hub/generated";
import { open as serve, server, snapshot } from "../lib/hub/fake";
import { speak } from "../words";
import { de } from "../words/de";
import { en } from "../words/en";
import { found, grouped, itemsOf, rank, toolsFor, type Doing, type Item } from "./commands";

const doing = {} as Doing;
const items = (...names: string[]) =>
  itemsOf(serve(snapshot(names.map((name) => server(name, { state: "asleep" }, { runs: "npx -y @modelcontextprotocol/server-filesystem /srv/low" })))), 0, false, (key) => key, doing);
const line = (tool_path: string, description = "") => ({ tool_path, description }) as ToolLine;
const tool = (label: string): Item => ({ id: label, group: "tools", label, run: () => {} });

test("what a server runs is found by a part of it, and not by scattered letters", () => {
  expect(found(items("files"), "slow").map(({ id }) => id)).toEqual([]);
  expect(found(items("files"), "server-filesystem").map(({ id }) => id)).toEqual(["server files"]);
});

test("an exact name comes before one that begins with the text, and both before what is alike, in every group", () => {
  const all = [...found(items("slower", "s-l-o-w"), "slow"), tool("slow")];
  expect(grouped(all, "slow").map(({ group, items }) => [group, items[0]!.id])).toEqual([
    ["tools", "slow"],
    ["servers", "server slower"],
    ["commands", "switch slower"],
  ]);
  expect(grouped([...items("a"), tool("b")], "").map(({ group }) => group)).toEqual(["go", "servers", "commands", "tools"]);
});

test("a tool is found by a part of a word, and similar ones only where nothing else is", () => {
  const all = [line("a:read_file"), line("a:profile"), line("a:file"), line("b:other", "Reads a file")];
  expect(toolsFor(all, [], "file", false).map((one) => one.tool_path)).toEqual(["a:file", "a:read_file", "a:profile", "b:other"]);
  expect(toolsFor(all, [line("c:document")], "xyz", false).map((one) => one.tool_path)).toEqual(["c:document"]);
  expect(toolsFor(all, [line("c:document")], "xyz", true)).toEqual([]);
});

test("languages and the sections of Settings are found by their names, and not suggested", () => {
  const first = (text: string) => found(items("files"), text)[0]?.id;
  expect(["deutsch", "language", "credentials", "settings history", "other computers"].map(first)).toEqual(["language de", "language en", "settings credentials", "settings history", "settings setup"]);
  expect(["export", "notifications", "icon in the tray", "delete the history", "follow"].map(first)).toEqual(
    [["setup", "Export the setup"], ["general", "Notifications"], ["window", "Icon in the tray"], ["history", "Delete the history"], ["setup", "Follow a folder"]].map(([section, name]) => `settings ${section} ${name}`),
  );
  expect(found(items("files"), "").filter(({ id }) => /^(language|settings)/.test(id))).toEqual([]);
});

test("names in commands stand in quotation marks, which nobody has to type", () => {
  const label = () => items("everything").find(({ id }) => id === "switch everything")!.label;
  expect(label()).toBe("Switch “everything” off");
  expect(rank({ label: label() }, "switch everything off")).toBe(3);
  speak("de", de);
  expect(label()).toBe("„everything“ ausschalten");
  speak("en", en);
});
