import { expect, test } from "vitest";
import type { ProfilesView, ProfileView } from "../lib/hub/generated";
import { server } from "../lib/hub/fake";
import { lines, outside, ticked } from "./profiles";

const profile = (name: string, servers: string[]): ProfileView => ({ name, profile: { servers, only: [], except: [] }, unknown: [], clients: [], fault: null });
const view = (active: string | null, ...all: ProfileView[]): ProfilesView => ({ active, all, folders: [] });
const servers = [server("git", { state: "asleep" }), server("notes", { state: "asleep" })];

test("without an active profile no server is outside", () => {
  expect([...outside(view(null, profile("a", [])), servers)]).toEqual([]);
});

test("what the active profile does not name is outside, and everything where it is not there", () => {
  expect([...outside(view("a", profile("a", ["git"])), servers)]).toEqual(["notes"]);
  expect([...outside(view("gone"), servers)]).toEqual(["git", "notes"]);
});

test("a server is ticked once, and what else a profile says stays", () => {
  const before = { servers: ["git"], only: ["git:get_*"], except: [] };
  expect(ticked(ticked(before, "notes", true), "notes", true)).toEqual({ ...before, servers: ["git", "notes"] });
  expect(ticked(before, "git", false)).toEqual({ ...before, servers: [] });
});

test("tools are read one path a line, each once", () => {
  expect(lines(" git:get_*\n\n*:delete_*\ngit:get_*\n")).toEqual(["git:get_*", "*:delete_*"]);
  expect(lines(" \n")).toEqual([]);
});
