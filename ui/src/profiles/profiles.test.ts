import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import App from "../App.svelte";
import type { ProfilesView, ProfileView } from "../lib/hub/generated";
import { fakeHub, open, server, snapshot } from "../lib/hub/fake";
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

test("after its editor closes, a profile's row has the focus, under a new name too", async () => {
  const view = snapshot(servers);
  const hub = fakeHub(open({ ...view, profiles: { active: null, all: [profile("quiet", ["git"]), profile("work", [])], folders: [] } }));
  history.replaceState(null, "", "#/servers");
  render(App, { hub });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Edit profiles" }));
  await user.click(await screen.findByRole("button", { name: "Edit work" }));
  const name = await screen.findByLabelText<HTMLInputElement>("Name");
  await user.clear(name);
  await user.type(name, "office");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit office" })));
});
