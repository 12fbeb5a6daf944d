// What a server's pane says of it: its last day, who uses it, its credentials, what else it offers, its environment, its log.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot, type Telling } from "../lib/hub/fake";
import { outcome } from "./credentials";
import { fault, placeOf, rows, withRows } from "./environment";
import { fits, level, read } from "./log";

const ledger = { newest: 200, counted: 1, calls_hour: 1, failures_hour: 0, net_today: 0, records: true, learns: true, days: 30 };
async function open(place: string, more: Parameters<typeof server>[2] = {}, telling: Telling = {}) {
  history.replaceState(null, "", `#/servers/github${place}`);
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" }, more)], { ledger })), telling);
  render(App, { hub });
  return { hub, user: userEvent.setup() };
}

describe("the overview", () => {
  test("has the last day's calls, how long they took, its errors and who made them", async () => {
    const { hub } = await open("", {}, { calls: 200 });
    const day = await hub.ask({ do: "server_day", server: "github" });
    const used = (await screen.findByText("Used by, in 24 h")).closest("section")!;
    expect(within(used).getAllByRole("link")).toHaveLength(day.clients.length);
    expect(within(used).getByRole("link", { name: "Cursor" }).getAttribute("href")).toBe("#/clients/cursor");
    const numbers = document.querySelector("dl.numbers")!.textContent;
    expect(numbers).toContain(`${day.calls}calls in 24 h`);
    expect(numbers).toContain("95th percentile");
  });

  test("says that nothing was called instead of zeros, and nothing of a measure that there is not", async () => {
    await open("");
    expect(await screen.findByText("No calls in the last 24 hours.")).toBeTruthy();
    expect(screen.queryByText("Memory")).toBeNull();
    expect(screen.queryByText("Credentials")).toBeNull();
  });

  test("has what it uses now and the most it used", async () => {
    const usage = { processes: 2, memory_bytes: 84e6, cpu_percent: 3.2, memory_most_bytes: 120e6, cpu_most_percent: 61, restarts: 0, noise: 0 };
    await open("", { usage });
    expect((await screen.findByText("Memory")).nextElementSibling!.textContent).toMatch(/84 MB · 2 processes · at most 120 MB/);
    expect(screen.getByText("Processor").nextElementSibling!.textContent).toMatch(/3% of a core · at most 61%$/);
  });

  test("does not say of a missing credential that it is in the keyring", async () => {
    const { hub } = await open("", { place: "hosted", runs: "https://github.example/mcp" });
    hub.ask({ do: "change", change: "edit", name: "github", entry: { url: "https://github.example/mcp", headers: { Authorization: "${secret:A}", Other: "${secret:B}" } } });
    hub.change("github", { runs: "https://github.example/mcp?", state: "needs_credential", names: ["A"], variables: [], code: "needs_credential", message: "" });
    expect(await screen.findByText("in your keyring")).toBeTruthy();
    expect(screen.getAllByRole("button", { name: "Replace" })).toHaveLength(1);
    expect(screen.getByText("B")).toBeTruthy();
  });

  test("replaces a credential, and tries it by starting the server", async () => {
    const { hub, user } = await open("", { place: "hosted", runs: "https://github.example/mcp" });
    hub.ask({ do: "change", change: "edit", name: "github", entry: { url: "https://github.example/mcp", headers: { Authorization: "Bearer ${secret:GITHUB_TOKEN}" } } });
    hub.change("github", { runs: "https://github.example/mcp?" });
    await user.click(await screen.findByRole("button", { name: "Replace" }));
    await user.type(screen.getByLabelText("Value of GITHUB_TOKEN"), "ghp_new");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(hub.requests).toContainEqual({ do: "set_secret", name: "GITHUB_TOKEN", value: "ghp_new" });
    await waitFor(() => expect(screen.queryByLabelText("Value of GITHUB_TOKEN")).toBeNull());
    await user.click(screen.getByRole("button", { name: "Test" }));
    expect(await screen.findByText("It starts with these credentials.")).toBeTruthy();
    hub.refuseNext("restart", { code: "held_back", message: "it is held back", action: "" });
    await user.click(screen.getByRole("button", { name: "Test" }));
    expect(await screen.findByText("It is held back.")).toBeTruthy();
  });

  test("a test waits for the start that it asked for, and says why it failed", () => {
    const asleep = server("a", { state: "asleep" });
    expect(outcome({ ...asleep, starts: 3 }, 3)).toBe("waiting");
    expect(outcome(server("a", { state: "ready", in_flight: 0, sleeps_at_ms: null }, { starts: 4 }), 3)).toBe("worked");
    expect(outcome(server("a", { state: "ready", in_flight: 0, sleeps_at_ms: null }, { starts: 3 }), 3)).toBe("waiting");
    expect(outcome(server("a", { state: "backing_off", code: "exited_early", message: "no API key", retry_at_ms: 0, failures: 1 }), 3)).toEqual({ why: "No API key" });
    const cause = { kind: "exited", end: { code: 1 }, wrote: "no API key", served: false } as const;
    const message = "no API key (the process ended with exit code 1)";
    expect(outcome(server("a", { state: "backing_off", code: "exited_early", message, cause, retry_at_ms: 0, failures: 1 }), 3)).toEqual({ why: message });
    expect(outcome(server("a", { state: "needs_sign_in", message: '"a" needs a sign-in' }), 3)).toEqual({ why: "Needs a sign-in" });
    expect(outcome(server("a", { state: "needs_credential", names: ["KEY"], variables: [], code: "needs_credential", message: "" }), 3)).toEqual({ why: "Needs KEY" });
  });
});

describe("resources and prompts", () => {
  test("have a tab of their own only where there are any", async () => {
    await open("");
    await screen.findByRole("tab", { name: /Overview/ });
    expect(screen.queryByRole("tab", { name: /Resources/ })).toBeNull();
  });

  test("are listed, and read there", async () => {
    const { hub, user } = await open("/offers", { resources: 3, prompts: 1 });
    expect((await screen.findByRole("tab", { name: /Resources/ })).textContent).toContain("4");
    await user.click(await screen.findByRole("button", { name: "Read README.md" }));
    expect(await screen.findByText("How it is built, tested and shipped.")).toBeTruthy();
    expect(hub.requests).toContainEqual({ do: "read_offered", server: "github", what: { resource: "repo://acme/web/README.md" } });
  });

  test("a prompt is shown with what it needs, a template at an address", async () => {
    const { hub, user } = await open("/offers", { resources: 3, prompts: 1 });
    await user.click(await screen.findByRole("button", { name: "Show Review a change" }));
    const show = screen.getAllByRole<HTMLButtonElement>("button", { name: "Show" }).at(-1)!;
    expect(show.disabled).toBe(true);
    await user.type(screen.getByLabelText("number (required)"), "12");
    await user.click(show);
    await waitFor(() => expect(hub.requests).toContainEqual({ do: "read_offered", server: "github", what: { prompt: { name: "review", arguments: { number: "12" } } } }));
    await user.click(screen.getByRole("button", { name: "Read A file" }));
    const address = screen.getByLabelText("Address");
    await user.clear(address);
    await user.type(address, "repo://a/b/c");
    await user.click(screen.getAllByRole("button", { name: "Read" }).at(-1)!);
    await waitFor(() => expect(hub.requests).toContainEqual({ do: "read_offered", server: "github", what: { resource: "repo://a/b/c" } }));
  });
});

describe("the environment", () => {
  test("is rows; what was not touched keeps its kind", () => {
    const entry = { command: "x", env: { A: "1", B: 2 } };
    expect(rows(entry)).toEqual([{ name: "A", value: "1" }, { name: "B", value: "2" }]);
    expect(withRows(entry, [{ name: "A", value: "3" }, { name: "B", value: "2" }])).toEqual({ command: "x", env: { A: "3", B: 2 } });
    expect(withRows(entry, [])).toEqual({ command: "x" });
    expect(placeOf({ url: "u" })).toBe("headers");
    expect(rows({ env: "odd" })).toEqual([]);
  });

  test("has each name once", () => {
    expect(fault([{ name: "A", value: "" }, { name: " A ", value: "" }])).toEqual({ twice: "A" });
    expect(fault([{ name: " ", value: "" }])).toBe("empty");
    expect(fault([{ name: "A", value: "" }])).toBeUndefined();
  });

  test("is edited as fields", async () => {
    const { hub, user } = await open("/setup", { runs: "npx -y github" });
    const value = await screen.findByLabelText("Value of LOG_LEVEL");
    await user.clear(value);
    await user.type(value, "debug");
    await user.click(screen.getByRole("button", { name: "Add variable" }));
    const save = within(screen.getByRole("region", { name: "Environment" })).getByRole<HTMLButtonElement>("button", { name: "Save" });
    expect(save.disabled).toBe(true);
    await user.type(screen.getAllByLabelText("Name").at(-1)!, "PORT");
    await user.type(screen.getByLabelText("Value of PORT"), "80");
    await user.click(save);
    await waitFor(() =>
      expect(hub.requests).toContainEqual({ do: "change", change: "edit", name: "github", entry: { command: "npx", args: ["-y", "github"], env: { LOG_LEVEL: "debug", PORT: "80" } } }),
    );
  });
});

describe("the log", () => {
  test("a line has its severity from what it says of itself, or from its words", () => {
    for (const [text, expected] of [
      ["INFO no errors so far", "info"],
      ["[error] x", "error"],
      ["2026-11-21 09:14 WARN: slow", "warning"],
      ["open failed: ENOENT", "error"],
      ["npm warn deprecated x", "warning"],
      ["Server running on stdio", "info"],
      ['{"level":"info","logger":"everything-server","data":"no error"}', "info"],
      ["connect ECONNREFUSED 127.0.0.1:1", "error"],
      ["everything is well", "info"],
    ] as const)
      expect([text, level(text)]).toEqual([text, expected]);
  });

  test("lines are chosen by severity and words", () => {
    const lines = ["2026-11-21T09:14:02.120Z stderr: WARN slow", "2026-11-21T09:14:02.120Z stderr: error: Broken", "odd"].map(read);
    expect(lines.filter((line) => fits(line, "warning", "")).map((line) => line.number)).toEqual([0, 1]);
    expect(lines.filter((line) => fits(line, "error", "")).map((line) => line.number)).toEqual([1]);
    expect(lines.filter((line) => fits(line, "info", " broken ")).map((line) => line.number)).toEqual([1]);
    expect(lines[2]).toEqual({ number: 2, at: undefined, source: "", text: "odd", level: "info" });
  });

  test("is searched, names its days, and its file is opened", async () => {
    const { hub, user } = await open("/log");
    expect(await screen.findByText("Saturday 21 November")).toBeTruthy();
    await user.click(screen.getByRole("radio", { name: "Errors" }));
    await waitFor(() => expect(screen.queryByText(/running on stdio/)).toBeNull());
    expect(screen.getByText(/ENOENT/)).toBeTruthy();
    await user.type(screen.getByLabelText("Find in the log"), "nothing like it");
    expect(await screen.findByText("No line matches.")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Open file: the log file" }));
    expect(hub.openedPlace).toEqual({ server_log: "github" });
  });
});
