// What is pasted, linked or dropped ends in one review, and does nothing by itself.
import { render, screen, waitFor } from "@testing-library/svelte";
import { fireEvent } from "@testing-library/dom";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../../App.svelte";
import { fakeHub, open as serve, snapshot } from "../../lib/hub/fake";
import type { FoundServer } from "../../lib/hub/generated";

const found = (more: Partial<FoundServer>): FoundServer => ({ name: "x", runs: "npx x", words: more.runs?.split(" ") ?? ["npx", "x"], sets: [], transport: "stdio", enabled: true, places: [], known: null, secrets: [], needs: [], remote: null, warnings: [], omitted: [], ...more });
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

test("a launch that does more than it says is not added without a yes to each of that", async () => {
  const { hub, user } = await paste("docker run -v /:/host x", risky);
  const add = await screen.findByRole("button", { name: "Add server" });
  expect(add.getAttribute("aria-disabled")).toBe("true");
  await user.click(add);
  expect(did(hub)).toEqual([]);
  await user.click(screen.getByLabelText(/I accept that it lets the container read and change the whole disk/));
  await waitFor(() => expect(add.getAttribute("aria-disabled")).toBe("false"));
  await user.click(add);
  await waitFor(() => expect(did(hub)).toEqual([{ do: "import_servers", from: { text: "docker run -v /:/host x" }, names: ["x"], answers: { "accept.x": "yes" }, named: {}, replace: [], off: false }]));
});

test("a link of a badge is read by the hub and only shown; what it brings comes switched off", async () => {
  const link = "[![Install](https://img.example/x.svg)](https://cursor.com/en/install-mcp?name=x&config=eyJjb21tYW5kIjoieCJ9)";
  const { hub, user } = await paste(link, found({ sets: ["API=https://api.example", "KEY"] }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "find_servers", from: { text: link } }));
  await waitFor(() => expect(document.querySelector(".runs")?.textContent).toBe("npx x"));
  expect(screen.getByText("API=https://api.example, KEY")).toBeTruthy();
  expect(screen.getByText(/A link asks for this/)).toBeTruthy();
  expect(did(hub)).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Add switched off" }));
  await waitFor(() => expect(did(hub)).toEqual([expect.objectContaining({ do: "import_servers", names: ["x"], off: true })]));
});

test("a second link waits: the sheet under the pointer stays the one that was read", async () => {
  history.replaceState(null, "", "#/servers");
  const hub = fakeHub(serve(snapshot([])));
  render(App, { hub });
  await screen.findByText(/Nothing in the satchel yet/);
  hub.go("/install?url=https://a.example/mcp");
  await waitFor(() => expect(document.querySelector(".runs")?.textContent).toBe("https://a.example/mcp"));
  const first = document.querySelector("dialog");
  hub.go("/install?url=https://b.example/mcp");
  expect(await screen.findByText(/1 more link waits/)).toBeTruthy();
  expect(document.querySelector(".runs")?.textContent).toBe("https://a.example/mcp");
  expect(document.querySelectorAll("dialog")).toHaveLength(1);
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(document.querySelector(".runs")?.textContent).toBe("https://b.example/mcp"));
  expect(document.querySelector("dialog")).not.toBe(first);
  expect(did(hub)).toEqual([]);
});

test("of several servers none is chosen beforehand, and each is added under the name it is given", async () => {
  history.replaceState(null, "", "#/servers");
  const hub = fakeHub(serve(snapshot([])), { described: { servers: [found({ name: "a" }), found({ name: "b" })], skipped: [], troubles: [] } });
  render(App, { hub });
  await screen.findByText(/Nothing in the satchel yet/);
  const user = userEvent.setup();
  await fireEvent.keyDown(window, { key: "n", ctrlKey: true });
  await fireEvent.input(await screen.findByRole("textbox", { name: /Command, URL/ }), { target: { value: "{two}" } });
  const boxes = await screen.findAllByRole<HTMLInputElement>("checkbox");
  expect(boxes.map(({ checked }) => checked)).toEqual([false, false]);
  expect(screen.getByRole("button", { name: "Add server" }).getAttribute("aria-disabled")).toBe("true");
  await user.click(boxes[1]!);
  await fireEvent.input(await screen.findByRole("textbox", { name: "Name" }), { target: { value: "other" } });
  await user.click(screen.getByRole("button", { name: "Add server" }));
  await waitFor(() => expect(did(hub)).toEqual([expect.objectContaining({ names: ["b"], named: { b: "other" } })]));
});
