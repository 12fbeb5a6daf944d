// What is pasted, linked or dropped ends in one review, and does nothing by itself.
import { render, screen, waitFor } from "@testing-library/svelte";
import { fireEvent } from "@testing-library/dom";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../../App.svelte";
import { fakeHub, open as serve, snapshot } from "../../lib/hub/fake";
import type { FoundServer } from "../../lib/hub/generated";

const found = (more: Partial<FoundServer>): FoundServer => ({ name: "x", runs: "npx x", sets: [], transport: "stdio", enabled: true, places: [], known: null, secrets: [], needs: [], remote: null, warnings: [], omitted: [], ...more });
const risky = found({
  runs: "docker run -v /:/host x",
  needs: [{ id: "accept.x", description: "it mounts. Type yes to accept that", secret: false, format: "", choices: [], default: null }],
  warnings: [{ code: "mounts_disk", parts: [], text: "it lets the container read and change the whole disk" }],
});

async function paste(text: string, server: FoundServer) {
  history.replaceState(null, "", "#/servers");
  const hub = fakeHub(serve(snapshot([])), { described: { servers: [server], skipped: [], troubles: [] } });
  render(App, { hub });
  await screen.findByText(/Nothing in the satchel yet/);
  await fireEvent.keyDown(window, { key: "n", ctrlKey: true });
  await fireEvent.input(await screen.findByRole("textbox", { name: /Command, URL/ }), { target: { value: text } });
  return { hub, user: userEvent.setup() };
}
const did = (hub: ReturnType<typeof fakeHub>) => hub.requests.filter((request) => ["change", "import_servers"].includes(request.do));

test("a launch that does more than it says is not added without a yes to that", async () => {
  const { hub, user } = await paste("docker run -v /:/host x", risky);
  await user.click(await screen.findByRole("button", { name: "Look closely…" }));
  expect(did(hub)).toEqual([]);
  const add = await screen.findByRole<HTMLButtonElement>("button", { name: "Add 1 server" });
  expect(add.disabled).toBe(true);
  await user.click(screen.getByLabelText(/I accept that it lets the container read and change the whole disk/));
  await waitFor(() => expect(add.disabled).toBe(false));
  await user.click(add);
  await waitFor(() => expect(did(hub)).toEqual([{ do: "import_servers", from: { text: "docker run -v /:/host x" }, names: ["x"], answers: { "accept.x": "yes" } }]));
});

test("a link of a badge is read by the hub and only shown", async () => {
  const link = "[![Install](https://img.example/x.svg)](https://cursor.com/en/install-mcp?name=x&config=eyJjb21tYW5kIjoieCJ9)";
  const { hub } = await paste(link, found({ sets: ["API=https://api.example", "KEY"] }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "find_servers", from: { text: link } }));
  expect(await screen.findByText("npx x")).toBeTruthy();
  expect(screen.getByText("API=https://api.example, KEY")).toBeTruthy();
  expect(did(hub)).toEqual([]);
});
