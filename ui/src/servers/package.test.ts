// Which version of its package a server runs, and how it becomes exactly one: over an invented hub.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import type { PackageView } from "../lib/hub/generated";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

const floating: PackageView = { package: "files", version: null, digest: null, fetched: ["1.4.0"], kept: true, example: "files@1.2.3" };

async function open(packages: Record<string, PackageView>) {
  history.replaceState(null, "", "#/servers/files");
  const hub = fakeHub(serve(snapshot([server("files", { state: "asleep" }, { runs: "npx -y files" })])), { packages });
  const user = userEvent.setup();
  render(App, { hub });
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "package", server: "files" }));
  return { hub, user };
}

test("what floats is pinned in one step to what was fetched last, and then says its version and contents", async () => {
  const { hub, user } = await open({ files: floating });
  expect(await screen.findByText(/^No version is pinned/)).toBeTruthy();
  hub.refuseNext("pin", { code: "held_back", message: "it is held back", action: "Look at it first." });
  const pin = await screen.findByRole("button", { name: "Pin to 1.4.0" });
  expect(pin.className).not.toContain("primary");
  await user.click(pin);
  expect(await screen.findByText("It is held back. Look at it first.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Pin to 1.4.0" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "pin", server: "files", version: "1.4.0" }));
  expect(await screen.findByText("npx -y files@1.4.0")).toBeTruthy();
  expect((await screen.findByText("1.4.0")).textContent).toBe("1.4.0 · no other version runs");
  expect(await screen.findByText(/^sha512-/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^Pin/ })).toBeNull();
  expect(screen.queryByText("It is held back. Look at it first.")).toBeNull();
});

test("where it is not known which one it is, nothing is offered and it says what to do", async () => {
  for (const [what, words] of [
    [{ fetched: ["1.4.0", "2.0.0"] }, "Here are 1.4.0 and 2.0.0. Pin one of them in Setup, for example files@1.2.3."],
    [{ fetched: [] }, "Start it once to see which, or pin one in Setup, for example files@1.2.3."],
    [{ fetched: [], kept: false }, "not. Pin one in Setup, for example files@1.2.3."],
  ] as const) {
    await open({ files: { ...floating, ...what, fetched: [...what.fetched] } });
    const text = await screen.findByText(/^No version is pinned/);
    expect(text.textContent.replace(/\s+/g, " ")).toContain(words);
    expect(screen.queryByRole("button", { name: /^Pin/ })).toBeNull();
    cleanup();
  }
});

test("of a server that fetches nothing there is nothing to say", async () => {
  await open({});
  expect(await screen.findByText("npx -y files")).toBeTruthy();
  expect(screen.queryByText(/^No version is pinned/)).toBeNull();
  expect(screen.queryByText("Version")).toBeNull();
});

test("a newer version that a registry read in the background is said in the list and beside it", async () => {
  history.replaceState(null, "", "#/servers/files");
  const telling: { newer: Record<string, string> } = { newer: {} };
  const hub = fakeHub(serve(snapshot([server("files", { state: "asleep" })])), telling);
  render(App, { hub });
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "installed", ask: "never" }));
  telling.newer = { files: "2.0.0" };
  hub.become(serve(snapshot([server("files", { state: "asleep" })], { version: 2, listed: 1 })));
  expect(await screen.findByText(/^Version 2.0.0 is available/)).toBeTruthy();
  expect(screen.getByText("2.0.0 is out")).toBeTruthy();
  telling.newer = {};
  hub.become(serve(snapshot([server("files", { state: "asleep" })], { version: 3, listed: 2 })));
  await waitFor(() => expect(screen.queryByText(/2.0.0/)).toBeNull());
});
