// A server set up differently, and its log as it goes on: over an invented hub.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

async function open(tab: string, more: Parameters<typeof server>[2] = {}) {
  history.replaceState(null, "", `#/servers/files/${tab}`);
  const hub = fakeHub(serve(snapshot([server("files", { state: "asleep" }, { runs: "npx -y files", ...more })])));
  const user = userEvent.setup();
  render(App, { hub });
  return { hub, user };
}

test("when it starts and sleeps is chosen, and the rest of its entry stays", async () => {
  const { hub, user } = await open("setup");
  const starts = await screen.findByRole("combobox", { name: "Starts" });
  await waitFor(() => expect((starts as HTMLSelectElement).disabled).toBe(false));
  await user.selectOptions(starts, "With the hub, then kept");
  const entry = { command: "npx", args: ["-y", "files"], env: { LOG_LEVEL: "info" } };
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "edit", name: "files", entry: { ...entry, startup: "eager" } }));
  expect(screen.queryByRole("spinbutton")).toBeNull();

  await user.selectOptions(screen.getByRole("combobox", { name: "Starts" }), "At the first call");
  const sleeps = await screen.findByRole("spinbutton", { name: "Sleeps after" });
  await user.clear(sleeps);
  await user.type(sleeps, "1.5{tab}");
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "edit", name: "files", entry: { ...entry, startup: "lazy", idleTimeout: 90 } }));
});

test("its entry is edited as JSON; nonsense and refusals are said and lose nothing", async () => {
  const { hub, user } = await open("setup");
  await user.click(await screen.findByRole("button", { name: "Edit" }));
  const area = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Configuration entry" });
  await user.clear(area);
  await user.paste('{ "command": ');
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText(/not valid JSON yet/)).toBeTruthy();
  area.setSelectionRange(area.value.length, area.value.length);
  area.focus();
  await user.paste('"uvx" }');
  hub.refuseNext("change", { code: "bad_server", message: "that cannot be", action: "Write another." });
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("That cannot be. Write another.")).toBeTruthy();
  expect(area.value).toBe('{ "command": "uvx" }');
  area.focus();
  await user.keyboard("{Escape}");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "edit", name: "files", entry: { command: "uvx" } }));
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Configuration entry" })).toBeNull());
  expect(await screen.findByText(/"uvx"/)).toBeTruthy();
});

test("it is duplicated under a name that is free", async () => {
  const { hub, user } = await open("overview");
  await user.click(await screen.findByRole("button", { name: "More actions for files" }));
  await user.click(await screen.findByRole("menuitem", { name: "Duplicate" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "change", change: "duplicate", name: "files", to: "files-2" }));
  expect(await screen.findByRole("heading", { name: "files-2" })).toBeTruthy();
});

test("of a log only its problems are shown where that is wanted, and nothing where there are none", async () => {
  const { user } = await open("log");
  expect(await screen.findByText(/running on stdio/)).toBeTruthy();
  await user.click(screen.getByRole("radio", { name: "Errors" }));
  expect(screen.queryByText(/running on stdio/)).toBeNull();
  expect(screen.getByText(/ENOENT/)).toBeTruthy();
});

test("a removed server comes back with one click or key, and what only it needs is forgotten if asked", async () => {
  const { hub, user } = await open("overview", { runs: "npx -y files ${secret:FILES_KEY}" });
  const remove = async () => {
    await user.click(await screen.findByRole("button", { name: "More actions for files" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove…" }));
  };
  await remove();
  await user.click(await screen.findByRole("checkbox", { name: "Also forget the credentials that only it uses: FILES_KEY" }));
  await user.click(screen.getByRole("button", { name: "Remove" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "remove_secret", name: "FILES_KEY" }));
  expect(screen.queryByRole("button", { name: "More actions for files" })).toBeNull();
  await user.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "put_back", server: "files" }));
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();

  const before = hub.requests.filter((request) => request.do === "remove_secret").length;
  await user.click(await screen.findByRole("link", { name: /files/ }));
  await remove();
  await user.click(await screen.findByRole("button", { name: "Remove" }));
  await screen.findByRole("button", { name: "Undo" });
  expect(hub.requests.filter((request) => request.do === "remove_secret").length).toBe(before);
  await user.keyboard("{Control>}z{/Control}");
  await waitFor(() => expect(hub.requests.filter((request) => request.do === "put_back").length).toBe(2));
});
