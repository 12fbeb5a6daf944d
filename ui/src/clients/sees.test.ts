// What one app sees, as a person chooses it: over an invented hub.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import { clients } from "../lib/hub/pretend";

async function open(id: string) {
  history.replaceState(null, "", `#/clients/${id}`);
  const asleep = { state: "asleep" } as const;
  const servers = [server("github", asleep), server("fetch", asleep), server("quiet", { state: "off" }, { enabled: false })];
  const hub = fakeHub(serve(snapshot(servers)), { clients });
  const user = userEvent.setup();
  render(App, { hub });
  await screen.findByRole("heading", { level: 1, name: clients.clients.find((client) => client.id === id)!.name });
  return { hub, user };
}

test("how tools come to an app, and which servers and tools it does not get, is chosen per app", async () => {
  const { hub, user } = await open("cursor");
  const way = await screen.findByRole("radiogroup", { name: "How it sees tools" });
  expect((within(way).getByRole("radio", { name: "Automatic" }) as HTMLInputElement).checked).toBe(true);
  expect(screen.getByText(/It takes every tool it is given/)).toBeTruthy();
  await user.click(within(way).getByRole("radio", { name: "Every tool" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "set_surface", client: "cursor", surface: "direct" }));

  expect(screen.getByText("It sees every server that is on.")).toBeTruthy();
  expect(screen.queryByRole("switch", { name: "Cursor sees quiet" })).toBeNull();
  await user.click(screen.getByRole("switch", { name: "Cursor sees fetch" }));
  await screen.findByText("It sees 1 of 2 servers that are on.");
  expect(screen.getByRole("switch", { name: "Cursor sees fetch" }).getAttribute("aria-checked")).toBe("false");

  await user.click(screen.getByText(/^All \d+ tools$/));
  await user.click(await screen.findByRole("switch", { name: "Cursor sees merge_pull_request" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "set_hidden", client: "cursor", path: "github:merge_pull_request", hidden: true }));
  await user.click(await screen.findByRole("switch", { name: "Cursor sees merge_pull_request" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "set_hidden", client: "cursor", path: "github:merge_pull_request", hidden: false }));
});

test("an app is bound to a profile in its pane, and what that leaves out is marked", async () => {
  history.replaceState(null, "", "#/clients/cursor");
  const asleep = { state: "asleep" } as const;
  const all = [{ name: "Web", profile: { servers: ["fetch"], only: [], except: [] }, unknown: [], clients: [], fault: null }];
  const hub = fakeHub(serve(snapshot([server("github", asleep), server("fetch", asleep)], { profiles: { active: null, all, folders: [] } })), { clients });
  const user = userEvent.setup();
  render(App, { hub });
  await user.selectOptions(await screen.findByLabelText("Profile"), "Web");
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "bind_profile", client: "cursor", profile: "Web" }));
  await screen.findByText("It sees 1 of 2 servers that are on.");
  expect(screen.getAllByText("Not in profile")).toHaveLength(1);
});

test("servers that run twice are moved in one step, and put back", async () => {
  const { hub, user } = await open("vscode");
  await user.click(await screen.findByRole("button", { name: "Move into Satchel" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "import_servers", from: { client: "vscode" }, take_out: true }));
  await user.click(await screen.findByRole("button", { name: "Put back" }));
  expect(await screen.findByRole("button", { name: "Move into Satchel" })).toBeTruthy();
});

test("an app without our entry keeps its own servers, which run once", async () => {
  await open("codex");
  await screen.findByRole("region", { name: "What Connect will write" });
  expect(screen.queryByText("1 server is loaded twice")).toBeNull();
  expect(screen.queryByRole("button", { name: "Move into Satchel" })).toBeNull();
});
