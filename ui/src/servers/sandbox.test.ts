// The sandbox around a server, switched on and off in its setup: over an invented hub.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

async function open(more: Parameters<typeof server>[2], sandbox = true) {
  history.replaceState(null, "", "#/servers/files/setup");
  const hub = fakeHub(serve(snapshot([server("files", { state: "asleep" }, more)])));
  const about = hub.about;
  hub.about = async () => ({ ...(await about()), sandbox });
  const user = userEvent.setup();
  render(App, { hub });
  return { hub, user };
}

test("the sandbox is put up with one switch, and what it allows is written and saved", async () => {
  const { hub, user } = await open({});
  const name = "Sandbox for files";
  await user.click(await screen.findByRole("switch", { name }));
  await waitFor(() => expect(screen.getByRole("switch", { name }).getAttribute("aria-checked")).toBe("true"));
  expect(hub.requests).toContainEqual({ do: "change", change: "set_sandbox", name: "files", sandbox: { read: [], write: [], network: true } });

  await user.click(screen.getByRole("checkbox", { name: "It may reach the network" }));
  await user.type(screen.getByRole("textbox", { name: /may change/ }), "~/notes{enter}/srv/data ");
  await user.click(await screen.findByRole("button", { name: "Save" }));
  const sandbox = { read: [], write: ["~/notes", "/srv/data"], network: false };
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "set_sandbox", name: "files", sandbox }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Save" })).toBeNull());

  await user.click(screen.getByRole("switch", { name }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "set_sandbox", name: "files", sandbox: null }));
});

test("a system without a sandbox says so, and a server elsewhere has none", async () => {
  await open({}, false);
  expect(await screen.findByText(/no sandbox/)).toBeTruthy();
  expect(screen.queryByRole("switch", { name: "Sandbox for files" })).toBeNull();
});

test("a server that runs elsewhere has no sandbox here", async () => {
  await open({ place: "hosted", runs: "https://example.com/mcp" });
  expect(await screen.findByText(/Changes there take effect/)).toBeTruthy();
  expect(screen.queryByText("Sandbox")).toBeNull();
});

test("a container is named, and kept when what it allows is changed", async () => {
  const container = { image: "node:22", engine: "auto" as const };
  const { hub, user } = await open({ sandbox: { read: [], write: [], network: false, container } }, false);
  expect(await screen.findByText(/container of node:22/)).toBeTruthy();
  expect(screen.queryByText(/no sandbox/)).toBeNull();
  await user.click(screen.getByRole("checkbox", { name: "It may reach the network" }));
  const sandbox = { read: [], write: [], network: true, container };
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "set_sandbox", name: "files", sandbox }));
});
