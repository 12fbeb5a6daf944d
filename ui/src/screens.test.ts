// The other screens as a person meets them, over an invented hub.
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "./App.svelte";
import type { ActivityPage, HubState, Left, Remark } from "./lib/hub/generated";
import { fakeHub, open as serve, server, snapshot, type Telling } from "./lib/hub/fake";
import { clients as known, nature } from "./lib/hub/pretend";
import { speak, words } from "./words";
import { de } from "./words/de";

async function open(place: string, telling: Telling = {}, state: HubState = serve(snapshot([server("github", { state: "asleep" })]))) {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(state, telling);
  const user = userEvent.setup();
  render(App, { hub });
  await Promise.resolve();
  return { hub, user };
}
const made = (hub: ReturnType<typeof fakeHub>, ...kinds: string[]) => hub.requests.filter((request) => kinds.includes(request.do));

describe("settings", () => {
  test("learning is switched off, and the history deleted only when it is confirmed", async () => {
    const { hub, user } = await open("/settings/history");
    const learns = await screen.findByRole("switch", { name: "Learn from use" });
    expect(learns.getAttribute("aria-checked")).toBe("true");
    await user.click(learns);
    await waitFor(() => expect(learns.getAttribute("aria-checked")).toBe("false"));
    await user.click(screen.getByRole("button", { name: "Forget what was learned" }));
    await user.click(screen.getByRole("button", { name: "Delete…" }));
    const sheet = await screen.findByRole("dialog", { name: "Delete the history" });
    expect(made(hub, "delete_history")).toEqual([]);
    await user.click(within(sheet).getByLabelText("Delete the totals too"));
    hub.refuseNext("delete_history", { code: "ledger", message: "the ledger is not open", action: "" });
    await user.click(within(sheet).getByRole("button", { name: "Delete" }));
    expect((await within(sheet).findByRole("alert")).textContent).toContain("The ledger is not open");
    await user.click(within(sheet).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(made(hub, "change", "forget_habits", "delete_history")).toEqual([
      { do: "change", change: "set_learning", learn: false },
      { do: "forget_habits" },
      { do: "delete_history", sums: true },
      { do: "delete_history", sums: true },
    ]);
  });
});

describe("the palette", () => {
  test("has the keyboard as soon as it is there, so that no letter is lost", async () => {
    await open("/settings");
    await screen.findByRole("heading", { name: "Settings" });
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    expect(document.activeElement).toBe(within(screen.getByRole("dialog", { name: "Search or run" })).getByRole("combobox"));
  });

  test("finds a server by a part of its name and goes there", async () => {
    const { user } = await open("/settings");
    await screen.findByRole("heading", { name: "Settings" });
    await user.keyboard("{Control>}k{/Control}");
    await user.keyboard("githu");
    const dialog = await screen.findByRole("dialog", { name: "Search or run" });
    await within(dialog).findByText("Asleep · wakes in about 900 ms");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(location.hash).toBe("#/servers/github"));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  test("pauses the hub, and the sidebar resumes it", async () => {
    const { hub, user } = await open("/servers");
    await screen.findByText("Hub is on");
    await user.keyboard("{Control>}k{/Control}");
    await user.keyboard("until I resume{Enter}");
    expect(await screen.findByText("Hub is paused")).toBeTruthy();
    expect(made(hub, "pause")).toEqual([{ do: "pause", until_ms: null }]);
    await user.click(screen.getByRole("button", { name: "Resume" }));
    expect(await screen.findByText("Hub is on")).toBeTruthy();
  });
});

describe("Enter in the palette", () => {
  const line = (tool_path: string) => ({ tool_path, description: "", signature: "", tokens: 1, category: "other", complexity: "simple" as const, version: 1, first_seen_ms: null, changed_ms: null, nature: nature("reads"), permit: "allow" as const, rule: "" });

  test("waits for the answer to what was typed, and opens the tool of this very name", async () => {
    const files = server("filesystem", { state: "asleep" }, { runs: "node /srv/long/where.js" });
    const { hub, user } = await open("/settings", {}, serve(snapshot([files, server("fake", { state: "asleep" })])));
    await screen.findByRole("heading", { name: "Settings" });
    const answers: (() => void)[] = [];
    const ask = hub.ask.bind(hub);
    hub.ask = async (request) => {
      if (request.do !== "tools") return ask(request);
      // An earlier text has other tools.
      if (request.query.startsWith("sl") && request.query !== "slow") return { tools: [line("fake:wrong")], total: 1 } as never;
      await new Promise<void>((done) => answers.push(done));
      return { tools: [line("fake:slowly"), line("fake:slow")], total: 2 } as never;
    };
    await user.keyboard("{Control>}k{/Control}");
    await user.keyboard("slow{Enter}");
    const dialog = screen.getByRole("dialog", { name: "Search or run" });
    expect(within(dialog).queryByText("wrong")).toBeNull();
    expect(location.hash).toBe("#/settings");
    await waitFor(() => {
      answers.splice(0).forEach((answer) => answer());
      expect(location.hash).toBe("#/servers/fake/tools/slow");
    });
  });
});

describe("the catalog", () => {
  test("is searched as it is typed, and says when nothing is found", async () => {
    const { user } = await open("/catalog");
    await screen.findByRole("link", { name: "Playwright" });
    await user.keyboard("/");
    await user.keyboard("browser");
    await waitFor(() => expect(screen.queryByRole("link", { name: "Time" })).toBeNull());
    expect(screen.getByRole("link", { name: "Playwright" })).toBeTruthy();
    await user.keyboard(" of glass");
    expect(await screen.findByText(/No server here matches/)).toBeTruthy();
  });

  test("what was not measured has no figure", async () => {
    await open("/catalog/deepwiki");
    const pane = await screen.findByRole("region", { name: "DeepWiki" });
    expect(within(pane).getByText("Counted when its list is first read")).toBeTruthy();
    expect(pane.textContent).not.toMatch(/\d+ tokens/);
  });

  test("adds what is a part of Satchel as it is", async () => {
    const { hub, user } = await open("/catalog/toolbox", {}, serve(snapshot([])));
    await user.click(await screen.findByRole("button", { name: "Add Toolbox" }));
    await waitFor(() => expect(location.hash).toBe("#/servers/toolbox"));
    expect(made(hub, "change", "install_listed")).toMatchObject([{ change: "add", name: "toolbox", target: { command: "satchel", args: ["toolbox"] } }]);
  });

  test("adds with its key in the keyring and not in the file", async () => {
    const { hub, user } = await open("/catalog/github", {}, serve(snapshot([])));
    const add = await screen.findByRole("button", { name: "Add GitHub" });
    expect(add.getAttribute("aria-disabled")).toBe("true");
    await user.type(screen.getByLabelText("A personal access token"), "ghp_x");
    await user.click(add);
    await waitFor(() => expect(location.hash).toBe("#/servers/github"));
    expect(made(hub, "set_secret", "change", "install_listed")).toEqual([
      { do: "install_listed", name: "github", server: null, version: null, way: null, answers: { GITHUB_TOKEN: "ghp_x" }, seen: "1" },
    ]);
  });
});

describe("activity", () => {
  const ledger = { newest: 5000, counted: 1, calls_hour: 1, failures_hour: 0, net_today: 0, records: true, learns: true, days: 30 };
  const busy = () => serve(snapshot([], { ledger }));

  test("is empty in words, not in zeros", async () => {
    await open("/activity");
    expect(await screen.findByText("No calls yet")).toBeTruthy();
    expect(document.querySelector("main")!.textContent).not.toMatch(/\b0\b/);
  });

  test("is narrowed to one profile, and says when that has nothing", async () => {
    const profiles = { active: null, folders: [], all: [{ name: "work", profile: { servers: [], only: [], except: [] }, unknown: [], clients: [], fault: null }] };
    const { hub, user } = await open("/activity", { calls: 20, days: 30 }, serve(snapshot([], { ledger, profiles })));
    await user.selectOptions(await screen.findByLabelText("Profile"), "work");
    await waitFor(() => expect(made(hub, "activity").at(-1)).toMatchObject({ profile: "work" }));
    location.hash = "#/savings";
    await screen.findByRole("button", { name: "Copy CSV" });
    await user.selectOptions(await screen.findByLabelText("Profile"), "work");
    await waitFor(() => expect(made(hub, "report").filter((ask) => "profile" in ask && ask.profile === "work")).toHaveLength(2));
    // It can be left again, whatever it has.
    expect(screen.getByLabelText("Profile")).toBeTruthy();
  });

  test("counts live sessions only where all of them are known", async () => {
    const { user } = await open("/activity", { calls: 20, days: 30 }, busy());
    expect((await screen.findByText(/^Live, \d/)).textContent).toContain("session");
    await user.click(screen.getByRole("radio", { name: /^Problems/ }));
    await waitFor(() => expect(screen.getByText("Live")).toBeTruthy());
  });

  test("five thousand calls do not build five thousand rows", async () => {
    await open("/activity", { calls: 5000 }, busy());
    await screen.findByRole("list", { name: "Calls" });
    expect(document.querySelectorAll('[role="listitem"]').length).toBeLessThan(80);
  });

  test("a call shows who asked, what it cost and how it came", async () => {
    await open("/activity/4998", { calls: 5000 }, busy());
    expect(await screen.findByText("Put in context")).toBeTruthy();
    expect(screen.getByText("Asked by")).toBeTruthy();
  });

  test("nobody asks again while nothing happens", async () => {
    const { hub } = await open("/activity", { calls: 20 }, busy());
    await screen.findByRole("list", { name: "Calls" });
    const before = made(hub, "activity").length;
    hub.become(serve(snapshot([], { version: 2, ledger })));
    await new Promise((done) => setTimeout(done, 20));
    expect(made(hub, "activity").length).toBe(before);
    hub.become(serve(snapshot([], { version: 3, ledger: { ...ledger, newest: 5001 } })));
    await waitFor(() => expect(made(hub, "activity").length).toBe(before + 1));
  });

  test("shows tokens as soon as they are counted, and adds no call to a paused list for it", async () => {
    history.replaceState(null, "", "#/activity");
    const hub = fakeHub(busy(), { calls: 3 });
    const ask = hub.ask.bind(hub);
    let counted = false;
    hub.ask = async (request) => {
      const answer = await ask(request);
      if (request.do !== "activity") return answer;
      const found = answer as ActivityPage;
      return { ...found, calls: found.calls.map((call) => ({ ...call, tokens: counted ? 4_321 : null })) } as typeof answer;
    };
    render(App, { hub });
    const list = await screen.findByRole("list", { name: "Calls" });
    expect(list.textContent).not.toContain("4.3");
    await userEvent.click(screen.getByRole("button", { name: "Pause the list" }));
    const newest = made(hub, "activity").at(-1);
    expect(newest).toMatchObject({ before: null });
    counted = true;
    hub.become(serve(snapshot([], { version: 2, ledger: { ...ledger, newest: 5001, counted: 2 } })));
    await waitFor(() => expect(list.textContent).toContain("4.3"));
    expect(made(hub, "activity").at(-1)).toMatchObject({ before: 4 });
  });

  test("what cannot be read says why, and can be tried again", async () => {
    history.replaceState(null, "", "#/activity");
    const hub = fakeHub(busy(), { calls: 9 });
    hub.refuseNext("activity", { code: "ledger_unusable", message: "the ledger cannot be opened", action: "" });
    render(App, { hub });
    expect(await screen.findByText("The ledger cannot be opened")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("list", { name: "Calls" })).toBeTruthy();
  });
});

describe("savings", () => {
  test("too few sessions are no percentage", async () => {
    await open("/savings", { days: 1 });
    expect(await screen.findByText(/Too early to judge/)).toBeTruthy();
    expect(document.body.textContent).not.toContain("%");
  });

  test("days that cost more are said, drawn and in the table", async () => {
    const { user } = await open("/savings", { days: 30 });
    expect(await screen.findByText("2 days cost more than they saved")).toBeTruthy();
    expect(document.querySelectorAll("rect.over").length).toBe(2);
    await user.click(screen.getByRole("button", { name: "Show as table" }));
    expect(document.querySelectorAll("tbody td.negative").length).toBe(2);
  });
});

describe("clients", () => {
  test("connected is only said of who asked", async () => {
    await open("/clients", { clients: known });
    const row = (await screen.findByRole("link", { name: "Claude Desktop" })).closest("li")!;
    expect(row.textContent).toContain("Added · waiting for its first request");
    expect(row.textContent).not.toContain("Connected");
  });

  test("what will be written is shown before it is", async () => {
    const { hub, user } = await open("/clients/zed", { clients: known });
    expect(await screen.findByRole("region", { name: "What Connect will write" })).toBeTruthy();
    const writes = () => hub.requests.filter((request) => request.do === "connect_client" && !request.dry_run);
    expect(writes()).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Connect Zed" }));
    await waitFor(() => expect(writes()).toEqual([{ do: "connect_client", client: "zed", dry_run: false }]));
  });
});

describe("the first minute", () => {
  const fresh = () => serve(snapshot([server("toolbox", { state: "asleep" })], { clients: [] }));

  test("opens by itself once, is offered while nothing is connected, and can be closed for good", async () => {
    const first = await open("/servers", { found: true }, fresh());
    expect(await screen.findByRole("heading", { name: "These servers are already on your computer" })).toBeTruthy();
    cleanup();
    await open("/servers", { found: true }, fresh());
    await first.user.click(await screen.findByRole("button", { name: "Set up" }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/1"));
    cleanup();
    const { user } = await open("/servers", {}, fresh());
    await user.click(await screen.findByRole("button", { name: "Do not show again" }));
    expect(screen.queryByText("No client is connected yet")).toBeNull();
    cleanup();
    await open("/servers", {}, fresh());
    await screen.findByText("toolbox");
    expect(screen.queryByText("No client is connected yet")).toBeNull();
  });

  test("does not open where somebody is at home already", async () => {
    await open("/servers");
    expect(await screen.findByText("github")).toBeTruthy();
    expect(location.hash).toBe("#/servers");
  });

  test("a server of two apps is one row that names both, and one that is here already is not brought again", async () => {
    await open("/welcome/1", { found: true });
    const row = (await screen.findByText("Also in Visual Studio Code")).closest("li")!;
    expect(within(row).getByRole("checkbox", { name: "github" })).toBeTruthy();
    const here = screen.getByText("Already in Satchel").closest("li")!;
    expect(within(here).queryByRole("checkbox")).toBeNull();
  });

  test("by keyboard alone, to a real call", async () => {
    const { hub, user } = await open("/welcome/1", { clients: known, found: true });
    const press = async (name: RegExp) => {
      await screen.findByRole("button", { name });
      for (let tabs = 0; tabs < 40 && !name.test(document.activeElement?.textContent?.trim() ?? ""); tabs++) await user.tab();
      expect(document.activeElement?.textContent).toMatch(name);
      await user.keyboard("{Enter}");
    };
    await press(/^Bring 4 servers$/);
    expect(made(hub, "import_servers")).toHaveLength(1);
    await screen.findByRole("heading", { name: "Connect the clients you work in" });
    expect(document.activeElement?.tagName).toBe("H1");
    await press(/^Connect 3 clients$/);
    await screen.findByRole("heading", { name: "Ask one of them to use a tool" });
    expect(screen.getAllByText("Waiting for its first request").length).toBeGreaterThan(0);
    hub.become(serve(snapshot([server("github", { state: "asleep" })], { version: 9, clients: [{ id: "cursor", requests: 3, last_call: "github:search_issues", last_seen_ms: Date.now() }] })));
    expect(await screen.findByRole("heading", { name: "It works" })).toBeTruthy();
    expect(screen.getByText("search_issues in github worked")).toBeTruthy();
    await press(/^Open Satchel$/);
    await waitFor(() => expect(location.hash).toBe("#/servers"));
  });

  test("a client stands in the second step as in the list of clients", async () => {
    await open("/welcome/2", { clients: known, found: true });
    const row = (await screen.findByText("Claude Desktop")).closest("li")!;
    expect(row.textContent).toContain("Added · waiting for its first request");
    expect(row.textContent).not.toContain("Connected");
  });

  test("servers that would run twice are taken out of the clients where it is ticked, and come back", async () => {
    const { hub, user } = await open("/welcome/2", { clients: known, found: true });
    await user.click(await screen.findByRole("checkbox", { name: /^Take these servers out of the clients/ }));
    // What goes is shown before anything is asked to go.
    expect((await screen.findAllByRole("region", { name: "What will be taken out of its settings" }))[0]?.textContent).toContain("github");
    expect(made(hub, "import_servers").every((one) => "dry_run" in one && one.dry_run)).toBe(true);
    await user.click(screen.getByRole("button", { name: /^Connect 3 clients$/ }));
    await screen.findByRole("heading", { name: "Ask one of them to use a tool" });
    const taken = made(hub, "import_servers").filter((one) => !("dry_run" in one));
    expect(taken.length).toBeGreaterThan(0);
    for (const one of taken) expect(one).toMatchObject({ take_out: true, names: expect.any(Array), from: { client: expect.any(String) } });
    expect(screen.getAllByText(/^Now in Satchel only: /).length).toBeGreaterThan(0);
    await user.click(screen.getByRole("button", { name: "Undo" }));
    await waitFor(() => expect(made(hub, "undo")).toHaveLength(taken.length));
  });

  test("what could not be brought is said, with its reason", async () => {
    const { user } = await open("/welcome/1", { found: true, stays: [{ place: "github", reason: "no keychain is running" }] });
    await user.click(await screen.findByRole("button", { name: "Bring 4 servers" }));
    expect((await screen.findByRole("alert")).textContent).toContain("github was not added: no keychain is running");
    expect(location.hash).toBe("#/welcome/1");
    expect(document.activeElement?.textContent).toContain("github was not added");
    // It can be tried again at once, or left.
    expect(screen.getByRole<HTMLInputElement>("checkbox", { name: "github" }).checked).toBe(true);
    expect(screen.queryByRole("button", { name: "Start empty" })).toBeNull();
    await user.click(screen.getByRole("button", { name: /^Continue without/ }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/2"));
  });

  test("the first minute names the app of an unreadable file, and goes on without it", async () => {
    const trouble = { place: "gemini-cli: ~/.gemini/settings.json", reason: "line 1: unterminated object" };
    const { user } = await open("/welcome/1", { found: true, unread: [trouble], stays: [trouble] });
    expect(await screen.findByText("Not read: Gemini CLI, ~/.gemini/settings.json: line 1: unterminated object")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Bring 4 servers" }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/2"));
  });

  test("the first minute names entries that cannot be used, and goes on without them", async () => {
    const unusable: Left = { place: "cursor: ~/.cursor/mcp.json: odd", reason: 'it uses the transport "ws", which Satchel does not support', cause: { kind: "transport", name: "ws" } };
    const switched: Left = { place: "cursor: ~/.cursor/mcp.json: other", reason: "its entry only switches on or off a server", cause: { kind: "switch_only" } };
    const { user } = await open("/welcome/1", { found: true, skipped: [unusable, switched], stays: [unusable, switched] });
    expect(await screen.findByText('Not read: Cursor, ~/.cursor/mcp.json, odd: it uses the transport "ws", which Satchel does not support')).toBeTruthy();
    expect(screen.queryByText(/switches on or off/)).toBeNull();
    await user.click(screen.getByRole("button", { name: "Bring 4 servers" }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/2"));
  });

  test("what a server still needs is said after it was brought, and can be given there", async () => {
    const place = "github";
    const remarks: Remark[] = [
      { place, reason: "it needs github.TOKEN; store it with `satchel secrets set github.TOKEN`", code: "needs_secret", name: "github.TOKEN" },
      { place: "files", reason: "it needs ROOT; set it in the environment that Satchel is started in", code: "needs_variable", name: "ROOT" },
      { place: "fetch", reason: '"dev" has no effect in Satchel', code: "no_effect", fields: ["dev"] },
    ];
    const { hub, user } = await open("/welcome/1", { clients: known, found: true, remarks });
    await user.click(await screen.findByRole("button", { name: "Bring 4 servers" }));
    const needs = await screen.findByRole("region", { name: "Before these servers start" });
    expect(needs.textContent).toContain("It needs github.TOKEN before it can start");
    expect(needs.textContent).toContain("It needs ROOT; set it in the environment");
    expect(screen.queryByText(/no effect in Satchel/), "it was said before they were brought").toBeNull();
    await user.type(screen.getByLabelText("Value of github.TOKEN"), "a-value");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByLabelText("Value of github.TOKEN")).toBeNull());
    expect(made(hub, "set_secret")).toEqual([{ do: "set_secret", name: "github.TOKEN", value: "a-value" }]);
    speak("de", de);
    expect(words.remark(remarks[2]!)).toBe("„dev“ hat in Satchel keine Wirkung");
    expect(words.remark(remarks[0]!)).toBe("braucht github.TOKEN, bevor er starten kann");
    speak("en");
  });

  test("what of an entry has no effect here is said before it is brought", async () => {
    await open("/welcome/1", { found: true });
    expect(await screen.findByText('"dev" has no effect in Satchel')).toBeTruthy();
  });

  test("where nothing can be stored, the window says what helps and leads there", async () => {
    const action = "Unlock the keychain, then try again, or choose an encrypted file with `satchel secrets use-file`.";
    const refusal = { code: "keychain_locked", message: "the keychain is locked (SS error)", action } as const;
    const { user } = await open("/welcome/1", { found: true, stays: [{ place: "github", reason: `${refusal.message}. ${action}`, refusal }] });
    await user.click(await screen.findByRole("button", { name: "Bring 4 servers" }));
    const said = (await screen.findByRole("alert")).textContent;
    expect(said).toContain("keyring");
    expect(said).not.toMatch(/keychain|`/);
    await user.click(screen.getByRole("link", { name: "Choose where credentials are stored" }));
    expect(await screen.findByRole("button", { name: "Use an encrypted file instead" })).toBeTruthy();
  });

  test("what is said of a failure is looked at after the list has grown", async () => {
    const { hub, user } = await open("/welcome/1", { found: true, stays: [{ place: "github", reason: "no keychain is running" }] });
    await screen.findByRole("button", { name: "Bring 4 servers" });
    let answered = false;
    const ask = hub.ask.bind(hub);
    hub.ask = async (request) => {
      if (request.do !== "find_servers") return ask(request);
      await new Promise((done) => setTimeout(done, 30));
      answered = true;
      return ask(request);
    };
    await user.click(screen.getByRole("button", { name: "Bring 4 servers" }));
    await waitFor(() => expect(document.activeElement?.textContent).toContain("github was not added"));
    expect(answered).toBe(true);
  });

  test("the servers of one app are unticked and ticked again at once", async () => {
    const { user } = await open("/welcome/1", { found: true });
    await screen.findByRole("button", { name: "Bring 4 servers" });
    const [none] = screen.getAllByRole("button", { name: /^None from / });
    await user.click(none!);
    expect(screen.queryByRole("button", { name: "Bring 4 servers" })).toBeNull();
    await user.click(screen.getByRole("button", { name: /^All from / }));
    expect(screen.getByRole("button", { name: "Bring 4 servers" })).toBeTruthy();
  });

  test("nothing is brought that is not ticked", async () => {
    const { hub, user } = await open("/welcome/1", { found: true });
    await user.click(await screen.findByRole("checkbox", { name: "linear" }));
    await user.click(screen.getByRole("button", { name: "Bring 3 servers" }));
    await waitFor(() => expect(made(hub, "import_servers")).toEqual([{ do: "import_servers", from: { everywhere: { project: null } }, names: ["github", "filesystem", "fetch"] }]));
  });
});

describe("credentials that are only locked away", () => {
  test("are not asked for again: the settings open the file", async () => {
    const state = { state: "needs_credential", names: ["TOKEN"], variables: [], code: "vault_locked", message: "the encrypted secrets file is locked" } as const;
    await open("/servers/db", {}, serve(snapshot([server("db", { ...state, names: [...state.names], variables: [] })])));
    expect(await screen.findByText("Unlock it in Settings with its passphrase.")).toBeTruthy();
    expect(screen.queryByLabelText("Value of TOKEN")).toBeNull();
    await open("/settings/credentials", { locked: true });
    expect(await screen.findByRole("button", { name: "Unlock" })).toBeTruthy();
  });
});

describe("a variable that is not set", () => {
  test("is explained, and can be saved as a secret", async () => {
    const state = { state: "needs_credential", names: ["HOST", "TOKEN"], variables: ["HOST"], code: "needs_credential", message: "" } as const;
    await open("/servers/db", {}, serve(snapshot([server("db", { ...state, names: [...state.names], variables: [...state.variables] })])));
    expect(await screen.findByLabelText("Value of TOKEN")).toBeTruthy();
    expect(screen.getByLabelText("Value of HOST")).toBeTruthy();
    expect(screen.getByText(/HOST: read from the environment/)).toBeTruthy();
  });
});

describe("profiles", () => {
  const two = (active: string | null = null) =>
    serve(
      snapshot([server("github", { state: "asleep" }), server("notes", { state: "asleep" })], {
        profiles: { active, all: [{ name: "Writing", profile: { servers: ["notes"], only: [], except: ["notes:delete_*"] }, unknown: [], clients: [], fault: null }], folders: [] },
      }),
    );

  test("one is chosen over the list, and what it leaves out says so", async () => {
    const { hub, user } = await open("/servers", {}, two());
    await user.selectOptions(await screen.findByLabelText("Profile"), "Writing");
    await screen.findByText("2 added, 0 awake, clients see 1");
    expect(screen.getAllByText("Not in profile")).toHaveLength(1);
    hub.refuseNext("change", { code: "unknown_profile", message: "there is no profile", action: "" });
    await user.selectOptions(screen.getByLabelText("Profile"), "Everything");
    expect((await screen.findByRole("alert")).textContent).toContain("There is no profile");
    await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("Profile").value).toBe("Writing"));
  });

  test("one that is not there is shown as chosen, and hides every server", async () => {
    await open("/servers", {}, two("Gone"));
    expect((await screen.findByLabelText<HTMLSelectElement>("Profile")).selectedOptions[0]?.textContent).toBe("Gone (missing)");
    expect(screen.getAllByText("Not in profile")).toHaveLength(2);
  });

  test("servers are ticked into one, and what the command line said of its tools stays", async () => {
    const { hub, user } = await open("/servers", {}, two());
    await user.click(await screen.findByRole("button", { name: "Edit profiles" }));
    await user.click(await screen.findByRole("button", { name: "Edit Writing" }));
    const sheet = await screen.findByRole("dialog", { name: "Edit Writing" });
    await user.click(within(sheet).getByLabelText("github"));
    await user.click(within(sheet).getByLabelText("notes"));
    await user.click(within(sheet).getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(made(hub, "change")).toEqual([
        { do: "change", change: "put_profile", name: "Writing", was: "Writing", profile: { servers: ["github"], only: [], except: ["notes:delete_*"] } },
      ]),
    );
    await screen.findByRole("dialog", { name: "Profiles" });
  });

  test("the first one is made from an empty editor, and one is chosen in the palette", async () => {
    const { hub, user } = await open("/servers");
    await user.click(await screen.findByRole("button", { name: "New profile" }));
    await user.type(await screen.findByLabelText("Name"), "Code");
    await user.click(screen.getByLabelText("github"));
    await user.click(screen.getByRole("button", { name: "Save" }));
    await user.click(await screen.findByRole("button", { name: "Close" }));
    await user.keyboard("{Control>}k{/Control}");
    await user.keyboard("profile code");
    await user.click(await screen.findByText("Use profile “Code”"));
    await waitFor(() => expect(made(hub, "change").at(-1)).toEqual({ do: "change", change: "use_profile", name: "Code" }));
    expect(await screen.findByLabelText<HTMLSelectElement>("Profile")).toHaveProperty("value", "Code");
  });
});

test("a newer version is a quiet word in the list, from what is known already", async () => {
  const { hub } = await open("/servers", { newer: { github: "2.1.5" } });
  expect(await screen.findByText("2.1.5 is out")).toBeTruthy();
  expect(made(hub, "installed")).toContainEqual({ do: "installed", ask: "never" });
});

test("pictures are shown where they are allowed, and none otherwise", async () => {
  const { user } = await open("/settings/window", { icons: { github: "data:image/png;base64,AAAA" } });
  await user.click(await screen.findByRole("switch", { name: "Pictures of servers" }));
  location.hash = "/servers";
  await waitFor(() => expect(document.querySelector('img[src="data:image/png;base64,AAAA"]')).toBeTruthy());
});

test("a link and a dropped file only show what they name", async () => {
  const { hub, user } = await open("/servers", { found: true });
  await screen.findByRole("link", { name: /^github/ });
  const link = `/install?name=notes&config=${encodeURIComponent(JSON.stringify({ command: "npx", args: ["-y", "notes"] }))}`;
  hub.go(link);
  await waitFor(() => expect(made(hub, "find_servers")).toContainEqual({ do: "find_servers", from: { text: `satchel:/${link}` } }));
  expect(await screen.findByRole("heading", { name: "Add a server" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  hub.go("/import?file=%2Ftmp%2Fa.mcpb");
  expect(await screen.findByText("/tmp/a.mcpb")).toBeTruthy();
  await waitFor(() => expect(made(hub, "find_servers")).toContainEqual({ do: "find_servers", from: { file: "/tmp/a.mcpb" } }));
  hub.go("/install?name=io.github.acme%2Fnotes");
  await waitFor(() => expect(location.hash).toBe("#/catalog/io.github.acme%2Fnotes"));
  expect(made(hub, "change", "import_servers", "install_listed")).toEqual([]);
});


test("the keyboard goes on where the palette led, and where one sheet became another", async () => {
  const { user } = await open("/servers", {});
  await waitFor(() => expect(document.querySelector("main")).toBeTruthy());
  (document.activeElement as HTMLElement | null)?.blur();
  await user.keyboard("{Control>}k{/Control}");
  await user.keyboard("savings{Enter}");
  await waitFor(() => expect(location.hash).toBe("#/savings"));
  await waitFor(() => expect(document.activeElement?.tagName).toBe("MAIN"));
});
