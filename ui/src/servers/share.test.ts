// Who shares an instance of a server, said and changed in its setup: over an invented hub.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

async function open(more: Parameters<typeof server>[2]) {
  history.replaceState(null, "", "#/servers/web/setup");
  const hub = fakeHub(serve(snapshot([server("web", { state: "asleep" }, more)])));
  const user = userEvent.setup();
  render(App, { hub });
  return { hub, user };
}

test("it is said who shares an instance, and one choice changes it", async () => {
  const { hub, user } = await open({});
  const choice = await screen.findByRole("combobox", { name: "Runs once for" });
  expect(screen.getByText(/All clients share it/)).toBeTruthy();
  await user.selectOptions(choice, "each session");
  expect(hub.requests).toContainEqual({ do: "change", change: "set_share", name: "web", share: "session" });
  await waitFor(() => expect(screen.getByText(/Each session has an instance of its own/)).toBeTruthy());
  await user.selectOptions(choice, "whom it suits");
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "set_share", name: "web", share: null }));
});

test("what Satchel chose is said with the reason, and each instance with its client", async () => {
  const instance = { number: 7, client: "editor", folder: null, session: true, pid: 1, memory_bytes: null, state: "asleep" as const };
  await open({ share: { share: "session", chosen: false, keeps: "a browser", project: false, instances: [instance] } });
  expect(await screen.findByText(/keeps something open between calls/)).toBeTruthy();
  expect(screen.getByText("editor, session 7")).toBeTruthy();
});

test("a server that runs in project folders says so, and in which ones", async () => {
  const instance = { number: 8, client: null, folder: "/home/ada/web", session: false, pid: 1, memory_bytes: null, state: "asleep" as const };
  await open({ share: { share: "project", chosen: false, keeps: null, project: true, instances: [instance] } });
  expect(await screen.findByText(/Its entry contains \$\{project\}/)).toBeTruthy();
  expect(screen.queryByText(/keeps something open/)).toBeNull();
  expect(screen.getByText("/home/ada/web")).toBeTruthy();
});
