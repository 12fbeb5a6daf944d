// The window as a person meets it, over an invented hub.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "./App.svelte";
import type { Answer, HubState, Request, ServerView } from "./lib/hub/generated";
import { fakeHub, open as serve, server, snapshot, type FakeHub } from "./lib/hub/fake";
import { scenes } from "./lib/hub/scenes";

async function open(state: HubState, place = "/servers") {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(state);
  const user = userEvent.setup();
  const { unmount } = render(App, { hub });
  await Promise.resolve();
  return { hub, user, unmount };
}
const serving = (...servers: ServerView[]) => serve(snapshot(servers));
const awake = { state: "ready", in_flight: 0, sleeps_at_ms: null } as const;
const switchOf = (name: string) => screen.findByRole("switch", { name: `${name}, available to clients` });
const group = (name: string) => screen.findByRole("region", { name: new RegExp(`^${name}`) });

describe("the list", () => {
  test("groups servers by what they do, and leaves out empty groups", async () => {
    await open(serving(server("a", awake), server("b", { state: "off" }), server("c", { state: "asleep" })));
    expect(within(await group("Awake")).getByText("a")).toBeTruthy();
    expect(within(await group("Asleep")).getByText("c")).toBeTruthy();
    expect(within(await group("Off")).getByText("b")).toBeTruthy();
    expect(screen.queryByRole("region", { name: /Needs you/ })).toBeNull();
  });

  test("shows tools and tokens only where they are known", async () => {
    await open(serving(server("known", { state: "asleep" }), server("unread", { state: "asleep" }, { tools: null, tokens: null, wake_ms: null })));
    const row = (await screen.findByText("known")).closest("[role=listitem]")!;
    expect(row.textContent).toContain("6 tools");
    expect(row.textContent).toContain("1.2 k tokens");
    expect(screen.getByText("unread").closest("[role=listitem]")!.textContent).not.toMatch(/\d/);
  });

  test("shows how much each was used in the last day", async () => {
    const state = serving(server("used", awake), server("idle", awake), server("away", { state: "off" }, { enabled: false }));
    const hub = fakeHub(state);
    const ask = hub.ask;
    const parts = Array.from({ length: 16 }, (_, at) => ({ 3: 2, 15: 1 })[at] ?? 0);
    hub.ask = <Asked extends Request>(request: Asked) =>
      request.do === "last_day" ? Promise.resolve({ calls: { used: parts } } as Answer<Asked>) : ask(request);
    history.replaceState(null, "", "#/servers");
    render(App, { hub });
    const row = (name: string) => document.querySelector<HTMLElement>(`[data-server=${name}]`)!;
    await screen.findByText("used");
    await within(row("used")).findByRole("img", { name: "3 calls in the last 24 hours" });
    within(row("idle")).getByRole("img", { name: "0 calls in the last 24 hours" });
    expect(within(row("away")).queryByRole("img", { name: /24 hours/ })).toBeNull();
  });

  test("a switch follows the hub, not the press", async () => {
    const { hub, user } = await open(serving(server("github", awake)));
    hub.refuseNext("change", { code: "config_invalid", message: "the file cannot be written", action: "Free some space." });
    await user.click(await switchOf("github"));
    expect((await switchOf("github")).getAttribute("aria-checked")).toBe("true");
    expect((await screen.findByRole("alert")).textContent).toContain("The file cannot be written. Free some space.");

    await user.click(await switchOf("github"));
    await waitFor(async () => expect((await switchOf("github")).getAttribute("aria-checked")).toBe("false"));
    expect(hub.requests).toContainEqual({ do: "change", change: "set_enabled", name: "github", enabled: false });
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("rows stay where they are while the focus is in the list", async () => {
    const { user } = await open(serving(server("a", awake), server("b", awake)));
    (await screen.findByRole("link", { name: /^b ?, / })).focus();
    await user.keyboard(" ");
    await waitFor(async () => expect((await switchOf("b")).getAttribute("aria-checked")).toBe("false"));
    expect(within(await group("Awake")).getByText("b")).toBeTruthy();
  });

  test("is one tab stop, and the arrow keys move through it", async () => {
    const { user } = await open(serving(server("a", awake), server("b", { state: "asleep" }), server("c", { state: "off" })));
    const link = (name: string) => screen.getByRole("link", { name: new RegExp(`^${name} ?, `) });
    await waitFor(() => expect(link("a").tabIndex).toBe(0));
    expect([link("b").tabIndex, link("c").tabIndex]).toEqual([-1, -1]);
    link("a").focus();
    await user.keyboard("{ArrowDown}");
    await waitFor(() => expect(document.activeElement).toBe(link("b")));
    expect(location.hash).toBe("#/servers/b");
    await user.keyboard("{End}");
    await waitFor(() => expect(document.activeElement).toBe(link("c")));
    await user.keyboard("a");
    await waitFor(() => expect(document.activeElement).toBe(link("a")));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(document.activeElement?.getAttribute("role")).toBe("tab"));
    await user.keyboard("{Escape}");
    await waitFor(() => expect(document.activeElement).toBe(link("a")));

    // The focus stays on the tab that is shown, and comes back to the row it came from.
    await user.keyboard("{ArrowDown}{Enter}");
    await waitFor(() => expect(document.activeElement?.getAttribute("role")).toBe("tab"));
    await user.keyboard("]");
    await waitFor(() => expect(document.activeElement?.getAttribute("aria-selected")).toBe("true"));
    expect(document.activeElement?.textContent).toContain("Tools");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(document.activeElement).toBe(link("b")));
  });

  test("F6 goes from the sidebar to the list to the pane, and brackets turn its tabs from anywhere", async () => {
    const { user } = await open(serving(server("a", awake), server("b", awake)), "/servers/b");
    const row = await screen.findByRole("link", { name: /^b ?, / });
    const places = [() => document.querySelector('aside a[aria-current="page"]'), () => row, () => screen.getByRole("tab", { selected: true })];
    for (const place of [...places, places[0]!]) {
      await user.keyboard("{F6}");
      expect(document.activeElement).toBe(place());
    }
    await user.keyboard("{Shift>}{F6}{F6}{/Shift}");
    expect(document.activeElement).toBe(row);
    await user.keyboard("]");
    await waitFor(() => expect(location.hash).toBe("#/servers/b/tools"));
    expect(document.activeElement).toBe(row);
    await user.keyboard("/]");
    expect(location.hash).toBe("#/servers/b/tools");
  });

  test("an arrow key goes to the list where nothing has the keyboard", async () => {
    const { user } = await open(serving(server("a", awake), server("b", awake)), "/servers/b");
    const row = await screen.findByRole("link", { name: /^b ?, / });
    (document.activeElement as HTMLElement | null)?.blur();
    await user.keyboard("{ArrowUp}");
    expect(document.activeElement).toBe(row);
    await user.keyboard("{ArrowUp}");
    expect(document.activeElement).toBe(screen.getByRole("link", { name: /^a ?, / }));
  });

  test("is narrowed by the slash key and says when nothing matches", async () => {
    const { user } = await open(serving(server("github", awake), server("slack", { state: "off" })));
    await screen.findByText("github");
    await user.keyboard("/");
    await user.keyboard("git");
    await waitFor(() => expect(screen.queryByText("slack")).toBeNull());
    await user.keyboard("x");
    expect(await screen.findByText(/No server matches “gitx”/)).toBeTruthy();
    await user.keyboard("{Escape}");
    expect(await screen.findByText("slack")).toBeTruthy();
  });

  test("text from a server is only text", async () => {
    const evil = `<img src=x onerror="document.title='owned'">`;
    await open(serving(server("a", awake, { title: evil, skipped: [evil], runs: evil })), "/servers/a");
    await screen.findAllByText(evil);
    expect(document.querySelector("img[src=x]")).toBeNull();
  });
});

describe("the hub", () => {
  test("before it has said anything there are grey bars, and no number", async () => {
    await open({ hub: "opening" });
    expect(await screen.findByRole("status", { name: "Reading the hub" })).toBeTruthy();
    expect(document.body.textContent).not.toMatch(/\d+ (added|tools)/);
    expect(screen.getByText("Hub is starting")).toBeTruthy();
  });

  test("empty, it offers to add and nothing else", async () => {
    await open(serving());
    expect(await screen.findByText("Nothing in the satchel yet")).toBeTruthy();
    expect(screen.queryByRole("textbox")).toBeNull();
  });

  test("empty, it still says what is wrong", async () => {
    await open(serve(snapshot([], { notices: [{ code: "config_invalid", message: "line 3 is no JSON", action: "" }] })));
    expect(await screen.findByText("Line 3 is no JSON")).toBeTruthy();
  });

  test("stopped, it says why and starts again", async () => {
    const { user } = await open({ hub: "stopped", message: "cannot read config.json" });
    expect(await screen.findByText("cannot read config.json")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Start again" }));
    expect(await screen.findByText("Hub is starting")).toBeTruthy();
  });

  test("held by another program, it names it", async () => {
    await open({ hub: "held", pid: 5123, url: "http://127.0.0.1:7411/mcp" });
    expect(await screen.findByText(/Process 5123/)).toBeTruthy();
  });

  test("says what clients see and copies the address", async () => {
    const { hub, user } = await open(serving(server("a", awake, { tools: 91 })));
    expect(await screen.findByText("Clients see 4 tools, not 91")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Copy endpoint address" }));
    expect(hub.copied).toBe("http://127.0.0.1:7411/mcp");
  });

  test("an older snapshot does not replace a newer one", async () => {
    const { hub } = await open(serve(snapshot([server("new", awake)], { version: 5 })));
    await screen.findByText("new");
    hub.become(serve(snapshot([server("old", awake)], { version: 4 })));
    await Promise.resolve();
    expect(screen.queryByText("old")).toBeNull();
  });

  test("two hundred servers are all there", async () => {
    await open(scenes.crowd!());
    await screen.findByText("200 added, 23 awake");
    const rows = () => [...document.querySelectorAll<HTMLElement>("[data-server]")];
    // A page without a layout sees each of the four groups from its top.
    expect(rows().length).toBeLessThan(120);
    expect(rows().map((row) => Number(row.closest("[role=listitem]")?.getAttribute("aria-setsize"))).every((size) => size > 0)).toBe(true);
    const sizes = [...document.querySelectorAll("h2 .num")].map((found) => Number(found.textContent));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200);
    // The keyboard reaches the last of them, which was not in the page.
    const first = rows()[0]!.querySelector<HTMLElement>("a")!;
    first.focus();
    await userEvent.keyboard("{End}");
    await waitFor(() => expect(document.activeElement?.closest("[role=listitem]")?.getAttribute("aria-posinset")).toBe(String(sizes.at(-1))));
    await userEvent.keyboard("{Home}");
    await waitFor(() => expect(document.activeElement?.closest("[data-server]")?.getAttribute("data-server")).toBe(first.closest<HTMLElement>("[data-server]")!.dataset.server));
  });
});

describe("the filter", () => {
  const two = () => serving(server("git", awake), server("notes", { state: "asleep" }));

  test("opens the first match with Enter", async () => {
    const { user } = await open(two());
    await screen.findByText("notes");
    await user.keyboard("/note{Enter}");
    await waitFor(() => expect(location.hash).toBe("#/servers/notes"));
  });

  test("does not leave out a server that is opened from elsewhere", async () => {
    const { hub, user } = await open(two());
    await screen.findByText("notes");
    await user.keyboard("/git");
    await waitFor(() => expect(document.querySelector("[data-server=notes]")).toBeNull());
    hub.go("/servers/notes");
    await waitFor(() => expect(document.querySelector("[data-server=notes]")).toBeTruthy());
    expect(screen.getByLabelText<HTMLInputElement>("Filter servers").value).toBe("");
  });
});

test("the line about clients counts only what the active profile has", async () => {
  const profiles = { active: "few", folders: [], all: [{ name: "few", profile: { servers: ["a"], only: [], except: [] }, unknown: [], clients: [], fault: null }] };
  await open(serve(snapshot([server("a", awake, { tools: 20 }), server("b", awake, { tools: 300 })], { profiles })));
  expect(await screen.findByText("Clients see 4 tools, not 20")).toBeTruthy();
});

describe("the first close", () => {
  test("is explained, and then hides the window", async () => {
    const { hub, user } = await open(serving(server("a", awake)));
    await screen.findByText("a");
    hub.close();
    expect(await screen.findByText("Satchel keeps serving")).toBeTruthy();
    // Enter never ends the hub for every client.
    await waitFor(() => expect(document.activeElement?.textContent).toBe("Close the window"));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(hub.hidden).toBe(true));
    expect(screen.queryByText("Satchel keeps serving")).toBeNull();
  });
});

describe("the pane", () => {
  test("says what went wrong, what to do, and tries now", async () => {
    const broken = { state: "broken", code: "spawn_not_found", message: "npx was not found", retry_at_ms: 0, failures: 3 } as const;
    const { hub, user } = await open(serving(server("p", broken)), "/servers/p");
    expect(await screen.findByText("p could not start")).toBeTruthy();
    expect(screen.getByText("npx was not found")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Try now" }));
    expect(hub.requests).toContainEqual({ do: "restart", server: "p" });
  });

  test("says of a hosted server that it could not be connected", async () => {
    const broken = { state: "broken", code: "tls", message: "its certificate is not trusted", retry_at_ms: 0, failures: 3 } as const;
    await open(serving(server("p", broken, { place: "hosted" })), "/servers/p");
    expect(await screen.findByText("p could not be connected")).toBeTruthy();
    expect(screen.getByText("The next call connects it again.")).toBeTruthy();
  });

  test("says when a paused server is tried again: by itself, or by a call", async () => {
    const broken = { state: "broken", code: "crashed", message: "it crashed", retry_at_ms: Date.now() + 60_000, failures: 3 } as const;
    const { hub } = await open(serving(server("p", broken)), "/servers/p");
    expect(await screen.findByText(/^Paused\. Calls are refused for /)).toBeTruthy();
    hub.change("p", { startup: "eager" });
    expect(await screen.findByText(/^Paused\. Next try in /)).toBeTruthy();
    hub.change("p", { startup: "lazy", retry_at_ms: 0 } as Partial<ServerView>);
    expect(await screen.findByText("The next call starts it again.")).toBeTruthy();
  });

  test("of a server without tools says so, and what helps", async () => {
    await open(serving(server("bare", awake, { tools: 0, tokens: 1, resources: 0, prompts: 0 })), "/servers/bare");
    expect(await screen.findByText(/^It offers no tools\. Read its log/)).toBeTruthy();
    expect(screen.queryByText(/1 token/)).toBeNull();
  });

  test("stores a missing credential and forgets it", async () => {
    const { hub, user } = await open(serving(server("db", { state: "needs_credential", names: ["URL"], variables: [], code: "needs_credential", message: "" })), "/servers/db");
    const field = await screen.findByLabelText<HTMLInputElement>("Value of URL");
    await user.type(field, "postgres://x{Enter}");
    await waitFor(() => expect(field.value).toBe(""));
    expect(hub.requests).toContainEqual({ do: "set_secret", name: "URL", value: "postgres://x" });
  });

  test("a variable that is not set can be saved where it is missing", async () => {
    const { hub, user } = await open(serving(server("docs", { state: "needs_credential", names: ["DOCS_TOKEN"], variables: ["DOCS_TOKEN"], code: "needs_credential", message: "" })), "/servers/docs");
    await user.type(await screen.findByLabelText("Value of DOCS_TOKEN"), "t-1{Enter}");
    await waitFor(() => expect(hub.requests).toContainEqual({ do: "enter_variable", server: "docs", variable: "DOCS_TOKEN", value: "t-1" }));
  });

  test("lists its tools with their tokens", async () => {
    await open(serving(server("github", awake)), "/servers/github/tools");
    expect(await screen.findByText("search_issues")).toBeTruthy();
  });

  test("removes only after a question that starts on No", async () => {
    const { hub, user } = await open(serving(server("github", awake)), "/servers/github");
    await user.click(await screen.findByRole("button", { name: "More actions for github" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove…" }));
    expect(hub.requests.filter((request) => request.do === "change")).toEqual([]);
    await user.click(await screen.findByRole("button", { name: "Remove" }));
    expect(hub.requests).toContainEqual({ do: "change", change: "remove", name: "github" });
    expect(await screen.findByText("Nothing in the satchel yet")).toBeTruthy();
  });
});

describe("adding", () => {
  const took = (hub: FakeHub) => hub.requests.filter((request) => request.do === "import_servers");

  test("what the hub read of a pasted block is what is added, its token in the keyring", async () => {
    const { hub, user } = await open(serving());
    await user.click(await screen.findByRole("button", { name: "Add a server" }));
    const text = JSON.stringify({ mcpServers: { gh: { command: "npx", args: ["gh"], env: { GH_TOKEN: "t" } } } });
    await user.click(await screen.findByRole("textbox"));
    await user.paste(text);
    expect(await screen.findByText("Moves to your keyring: GH_TOKEN")).toBeTruthy();
    await user.click(await screen.findByRole("button", { name: "Add server" }));
    await waitFor(() => expect(took(hub)).toEqual([{ do: "import_servers", from: { text }, names: ["gh"], answers: {}, named: {}, replace: [], off: false }]));
    expect(await screen.findByRole("link", { name: /^gh ?, / })).toBeTruthy();
  });

  test("a pasted command line shows none of the credentials in its arguments", async () => {
    const { user } = await open(serving());
    await user.click(await screen.findByRole("button", { name: "Add a server" }));
    await user.click(await screen.findByRole("textbox"));
    await user.paste("npx some --password=Tr0ub4dor --token=zzTop");
    await waitFor(() => expect(document.querySelector(".runs")?.textContent).toBe("npx some --password=•••••••• --token=••••••••"));
  });

  test("a name that is taken is not replaced unasked", async () => {
    const { hub, user } = await open(serving(server("git", awake)));
    await user.click(await screen.findByRole("button", { name: /^Add/ }));
    await user.click(await screen.findByLabelText("Command, URL or mcpServers block"));
    await user.paste("uvx mcp-server-git");
    const replace = await screen.findByRole("checkbox", { name: /Replace it/ });
    const add = await screen.findByRole<HTMLButtonElement>("button", { name: "Add server" });
    expect(add.getAttribute("aria-disabled")).toBe("true");
    await user.click(replace);
    await user.click(add);
    await waitFor(() => expect(took(hub)).toEqual([expect.objectContaining({ names: ["git"], replace: ["git"] })]));
  });

  test("what is no server is said to be none, in the words of the hub", async () => {
    const { hub, user } = await open(serving());
    hub.refuseNext("find_servers", { code: "not_a_server", message: "there is no server in it", action: "Paste a block, a command line or an address." });
    await user.click(await screen.findByRole("button", { name: "Add a server" }));
    await user.click(await screen.findByRole("textbox"));
    await user.paste("Lorem ipsum dolor");
    expect((await screen.findByRole("alert")).textContent).toContain("This is not recognised as a server.");
    expect(screen.queryByRole("button", { name: /^Add server/ })?.getAttribute("aria-disabled")).toBe("true");
  });

  test("a refusal stays in view, and so does what was typed", async () => {
    const { hub, user } = await open(serving());
    hub.refuseNext("import_servers", { code: "config_invalid", message: "the file cannot be written", action: "" });
    await user.click(await screen.findByRole("button", { name: "Add a server" }));
    await user.click(await screen.findByRole("textbox"));
    await user.paste("https://mcp.example.com/mcp");
    await waitFor(() => expect(screen.getByRole("button", { name: "Add server" }).getAttribute("aria-disabled")).toBe("false"));
    await user.click(await screen.findByRole("button", { name: "Add server" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The file cannot be written.");
    expect(screen.getByLabelText<HTMLTextAreaElement>("Command, URL or mcpServers block").value).toContain("mcp.example.com");
  });
});

describe("settings", () => {
  test("start at login shows what it is afterwards", async () => {
    const { hub, user } = await open(serving(), "/settings");
    const login = await screen.findByRole("switch", { name: "Start at login" });
    expect(login.getAttribute("aria-checked")).toBe("false");
    await user.click(login);
    await waitFor(() => expect(login.getAttribute("aria-checked")).toBe("true"));
    expect(await hub.startsAtLogin()).toBe(true);
  });

  test("a chosen theme shows at once and is kept", async () => {
    const { hub, user } = await open(serving(), "/settings/window");
    await user.click(await screen.findByRole("radio", { name: "Dark" }));
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe("dark"));
    expect(localStorage.getItem("theme")).toBe("dark");
    // The program paints windows in it before they have a page.
    await waitFor(async () => expect(await hub.choices()).toMatchObject({ appearance: "dark", closing: "serve" }));
  });

  test("the tray can lead here", async () => {
    const { hub } = await open(serving(server("a", awake)));
    await screen.findByText("a");
    hub.go("/settings");
    expect(await screen.findByRole("heading", { name: "Settings" })).toBeTruthy();
  });
});
