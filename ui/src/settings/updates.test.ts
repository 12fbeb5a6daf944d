// Newer versions of the program in the window: off until somebody says so, installed on a word, told to whom a package belongs.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, snapshot } from "../lib/hub/fake";
import type { UpdatesView } from "../lib/hub/generated";

async function open(told?: Partial<UpdatesView>) {
  history.replaceState(null, "", "#/settings");
  const hub = fakeHub(serve(snapshot([])));
  if (told) hub.tellUpdates({ known: true, by: "itself", now: { standing: "unknown" }, taken_back: null, ...told });
  render(App, { hub });
  await screen.findByRole("switch", { name: "Start at login" });
  return { hub, user: userEvent.setup() };
}

test("nothing is looked for until somebody says so, and what was fetched waits for Quit or a word", async () => {
  const { hub, user } = await open();
  const line = await screen.findByRole("switch", { name: "New versions of Satchel" });
  expect(line.getAttribute("aria-checked")).toBe("false");
  await user.click(line);
  await waitFor(async () => expect((await hub.choices()).updates).toBe("on"));
  await user.click(screen.getByRole("button", { name: "Look now" }));
  expect(await screen.findByText("Satchel 0.2.0 will be installed when you quit.")).toBeTruthy();
  expect(screen.getByText("Servers start faster.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Install and restart" }));
  expect(await screen.findByText(/as soon as no call is running and no question is waiting/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Look now" })).toBeNull();
});

test("a package is told to use its manager", async () => {
  await open({ by: "apt", now: { standing: "newer", version: "0.2.0", notes: "" } });
  const said = await screen.findByText(/Satchel 0.2.0 is out/);
  expect(said.textContent).toContain("sudo apt install ./FILE");
  expect(screen.queryByRole("button", { name: "Install and restart" })).toBeNull();
});

test("a failure says what to do", async () => {
  await open({ now: { standing: "failed", message: "version 0.2.0 is not signed", action: "Nothing was installed." } });
  expect(await screen.findByText("Version 0.2.0 is not signed. Nothing was installed.")).toBeTruthy();
});

test("a version that was taken back is named", async () => {
  await open({ taken_back: "0.2.0" });
  expect(await screen.findByText(/Satchel 0.2.0 did not start here/)).toBeTruthy();
});

test("a build that knows of no newer versions says nothing of them", async () => {
  await open({ known: false });
  const card = screen.getByRole("switch", { name: "Start at login" }).closest<HTMLElement>(".card");
  expect(card && within(card).queryByText("New versions of Satchel")).toBeNull();
});
