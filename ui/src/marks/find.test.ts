// Which mark stands for which name.
import { render, waitFor } from "@testing-library/svelte";
import { expect, test, vi } from "vitest";

import Tile from "../servers/Tile.svelte";
import { findMark } from "./find";
import written from "./marks.json";
import { showProducts, type Mark } from "./shown.svelte";

const marks = written as unknown as Record<string, Mark>;
vi.stubGlobal("fetch", () => Promise.resolve(Response.json(marks)));

test("a name has the mark that it names, and an ordinary word none", () => {
  const known = (mark: string) => Object.hasOwn(marks, mark);
  for (const [name, expected] of [
    ["github", "github"],
    ["GitHub Work", "github"],
    ["mcp-server-postgres", "postgresql"],
    ["google-drive", "googledrive"],
    ["claude-code", "claudecode"],
    ["Claude Desktop", "claude"],
    ["brave-search", "brave"],
    ["my-amp", undefined],
    ["warp", "warp"],
    ["filesystem", undefined],
    ["Satchel window", "satchel"],
    ["satchel-notes", undefined],
    ["constructor", undefined],
    ["", undefined],
  ] as const)
    expect([name, findMark(name, known)]).toEqual([name, expected]);
});

test("there are at least eighty, each a path", () => {
  expect(Object.keys(marks).length).toBeGreaterThanOrEqual(80);
  for (const [name, [path]] of Object.entries(marks)) expect([name, /^[Mm][-\d.]/.test(path)]).toEqual([name, true]);
});

test("a tile has letters first, and its mark as soon as marks are read; others keep their letters", async () => {
  const { container } = render(Tile, { name: "github", bundled: true });
  const other = render(Tile, { name: "filesystem", bundled: true }).container;
  await waitFor(() => expect(container.querySelector("svg path")?.getAttribute("d")).toBe(marks.github![0]));
  expect([other.querySelector("svg"), other.textContent]).toEqual([null, "F"]);
});

test("a name proves nothing: without the bundled list's word a server called github has its letter", async () => {
  const named = render(Tile, { name: "github" }).container;
  const proven = render(Tile, { name: "work" }).container;
  showProducts({ work: "GitHub" });
  await waitFor(() => expect(proven.querySelector("svg path")?.getAttribute("d")).toBe(marks.github![0]));
  expect([named.querySelector("svg"), named.textContent]).toEqual([null, "G"]);
  showProducts({});
});
