// At most one banner, which can be closed, with its act in it.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import type { KnownClient, Notice } from "../lib/hub/generated";
import { awake } from "./groups";

const port: Notice = { code: "port_taken", message: "port 7411 is taken by another program; serving on port 7413", action: "" };
const client = (id: string, what: string): KnownClient => ({ id, name: id, tier: "A", confidence: "sure", installed: true, sign: null, file: null, duplicates: [], surface: "auto", effective: "router", reason: "", hidden: [], profile: null, after_connect: null, state: "needs_you", what, message: "" });

function open(notices: Notice[], known: KnownClient[]) {
  history.replaceState(null, "", "#/servers");
  const hub = fakeHub(serve({ ...snapshot([server("a", { state: "asleep" })]), notices }), { clients: { clients: known } });
  render(App, { hub });
  return { hub, user: userEvent.setup() };
}

test("clients with the old address are connected again by one press, and another port alone is no banner", async () => {
  const { hub, user } = open([port], [client("cursor", "moved"), client("codex", "moved"), client("zed", "edited")]);
  await user.click(await screen.findByRole("button", { name: "Connect 2 again" }));
  await waitFor(() => expect(hub.requests.filter((request) => request.do === "connect_client").map((request) => request.client)).toEqual(["cursor", "codex"]));
});

test("nobody who was told nothing else is asked to do anything", async () => {
  open([port], []);
  await screen.findByRole("switch", { name: /^a,/ });
  expect(document.querySelector("[data-banner]")).toBeNull();
});

test("of two notices one is shown, and closing it shows the next", async () => {
  const { user } = open([{ code: "rule_invalid", message: "a rule", action: "" }, { code: "setting_invalid", message: "a setting", action: "" }], []);
  await screen.findByText("A rule");
  expect(document.querySelectorAll("[data-banner]")).toHaveLength(1);
  await user.click(screen.getByRole("button", { name: "Close" }));
  await screen.findByText("A setting");
  await user.click(screen.getByRole("button", { name: "Close" }));
  await waitFor(() => expect(document.querySelector("[data-banner]")).toBeNull());
});

test("a server that runs counts as awake, whatever it needs", () => {
  const failure = { code: "list_failed", message: "", at_ms: 0, during: "lists" } as const;
  expect(awake([server("a", { state: "ready", in_flight: 0, sleeps_at_ms: null }, { last_failure: failure }), server("b", { state: "asleep" })])).toBe(1);
});
