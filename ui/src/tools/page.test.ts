// A server's own page: which one there is, what it is told, and what it may have done.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import type { PageTold } from "../lib/hub/generated";
import type { PageSide } from "../lib/hub/hub";
import type { Json } from "./json";
import { PageHost, type PageHandlers } from "./pageHost";
import { pageOf } from "./pageOf";
import PageWindow from "./PageWindow.svelte";

describe("which page", () => {
  test("the definition's, in both spellings, or the one that the result points to", () => {
    const named = { _meta: { ui: { resourceUri: "ui://a/b" } } };
    expect(pageOf(named)).toBe("ui://a/b");
    expect(pageOf({ _meta: { "ui/resourceUri": "ui://old" } })).toBe("ui://old");
    expect(pageOf({}, { content: [{ type: "text", text: "ui://no" }, { type: "resource_link", uri: "ui://linked", name: "x" }] })).toBe("ui://linked");
    expect(pageOf({}, { content: [{ type: "resource", resource: { uri: "ui://within", text: "<p>" } }] })).toBe("ui://within");
    expect(pageOf(named, { content: [{ type: "resource_link", uri: "ui://linked" }] })).toBe("ui://a/b");
    for (const odd of [{}, null, { _meta: { ui: { resourceUri: "https://example.com" } } }, { _meta: { ui: { resourceUri: "ui://" } } }, { _meta: { ui: [] } }] as Json[]) expect(pageOf(odd)).toBeUndefined();
  });
});

type Message = { id?: unknown; method?: string; params?: Record<string, unknown>; result?: Record<string, unknown>; error?: { code: number; message: string } };

function host(handlers: Partial<PageHandlers> = {}) {
  const sent: Message[] = [];
  const done: string[] = [];
  const all: PageHandlers = {
    call: (tool, input) => (done.push(`${tool} ${input}`), Promise.resolve({ content: [] })),
    read: (uri) => (done.push(uri), Promise.resolve({ contents: [] })),
    link: () => Promise.resolve(false),
    height: (pixels) => done.push(`height ${pixels}`),
    log: (line) => done.push(`log ${line}`),
    ...handlers,
  };
  const about = { tool: { name: "show" }, input: { a: 1 }, result: { content: [] }, reach: { connect: ["https://api.example.com"], load: [] }, version: "1", context: () => ({ theme: "dark" }) };
  const page = new PageHost(about, (message) => sent.push(message as Message), all);
  let id = 0;
  const ask = async (method: string, params: unknown = {}) => {
    const own = ++id;
    await page.hear({ jsonrpc: "2.0", id: own, method, params });
    return sent.find((message) => message.id === own)!;
  };
  const tell = (method: string, params: unknown = {}) => page.hear({ jsonrpc: "2.0", method, params });
  const begin = async () => {
    await ask("ui/initialize", { protocolVersion: "2026-01-26" });
    await tell("ui/notifications/initialized");
  };
  return { page, sent, done, ask, tell, begin };
}

describe("what is said", () => {
  test("nothing before the page is ready, then what the tool was asked and what it answered", async () => {
    const { page, sent, ask, tell } = host();
    page.changed({ theme: "light" });
    await tell("ui/notifications/initialized");
    expect((await ask("tools/call", { name: "a" })).error?.code).toBe(-32002);
    sent.length = 0;
    const hello = await ask("ui/initialize", {});
    expect(hello.result).toMatchObject({ protocolVersion: "2026-01-26", hostInfo: { name: "Satchel" }, hostContext: { theme: "dark", toolInfo: { tool: { name: "show" } } }, hostCapabilities: { sandbox: { csp: { connectDomains: ["https://api.example.com"] } } } });
    expect(sent).toHaveLength(1);
    await tell("ui/notifications/initialized");
    await tell("ui/notifications/initialized");
    page.changed({ theme: "light" });
    expect(sent.slice(1).map(({ method }) => method)).toEqual(["ui/notifications/tool-input", "ui/notifications/tool-result", "ui/notifications/host-context-changed"]);
    expect(sent[1]!.params).toEqual({ arguments: { a: 1 } });
  });

  test("its own tools and resources are reached, and what is said of them is passed on", async () => {
    const { done, ask, begin, tell } = host({ link: () => Promise.resolve(true) });
    await begin();
    expect((await ask("tools/call", { name: "greet", arguments: { to: "x" } })).result).toEqual({ content: [] });
    expect((await ask("resources/read", { uri: "note://1" })).result).toEqual({ contents: [] });
    expect((await ask("ui/open-link", { url: "https://example.com" })).result).toEqual({});
    expect((await ask("ping")).result).toEqual({});
    expect((await ask("ui/request-display-mode", { mode: "fullscreen" })).result).toEqual({ mode: "inline" });
    await tell("ui/notifications/size-changed", { height: 301.5 });
    await tell("ui/notifications/size-changed", { height: Infinity });
    await tell("notifications/message", { level: "info", data: { n: 1 } });
    expect(done).toEqual(['greet {"to":"x"}', "note://1", "height 301.5", 'log info {"n":1}']);
  });

  test("everything else is refused, and no more than eight requests are answered at once", async () => {
    const { done, ask, begin } = host({ call: () => new Promise(() => {}) });
    await begin();
    for (const [method, params, code] of [
      ["ui/message", { role: "user" }, -32000],
      ["ui/update-model-context", {}, -32000],
      ["ui/open-link", { url: "https://example.com" }, -32000],
      ["sampling/createMessage", {}, -32601],
      ["tools/call", { name: 7 }, -32602],
      ["tools/call", { name: "a", arguments: [] }, -32602],
      ["resources/read", {}, -32602],
    ] as const)
      expect([method, (await ask(method, params)).error?.code]).toEqual([method, code]);
    expect(done).toEqual([]);
    for (let at = 0; at < 8; at++) void ask("tools/call", { name: "a" });
    expect((await ask("tools/call", { name: "a" })).error?.message).toContain("at once");
  });

  test("what is no message is passed over, and a page that is left may end in order", async () => {
    const { page, sent, begin } = host();
    for (const odd of [null, 7, "x", [], {}, { jsonrpc: "2.0" }, { jsonrpc: "1.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: {}, method: "ping" }]) await page.hear(odd);
    expect(sent).toEqual([]);
    await page.leave(10_000);
    await begin();
    const left = page.leave(60_000);
    expect(sent.at(-1)?.method).toBe("ui/resource-teardown");
    await page.hear({ jsonrpc: "2.0", id: sent.at(-1)!.id, result: {} });
    await left;
    await page.leave(60_000);
    expect(sent.filter(({ method }) => method === "ui/resource-teardown"), "it ends once").toHaveLength(1);
  });
});

/** What the page of `github:board` is called by the hub of the tests. */
const page = "github ui://github/board";

/** Runs the tool, and speaks as its page. */
async function board() {
  history.replaceState(null, "", "#/servers/github/tools/board");
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])));
  const user = userEvent.setup();
  render(App, { hub });
  await user.click(await screen.findByRole("button", { name: "Run" }));
  await screen.findByRole("button", { name: "Close page" });
  const says = (message: object, id = page) => hub.pageSays(id, { message: { jsonrpc: "2.0", ...message } });
  return { hub, user, says };
}

test("a tool with a page shows it in a window of its own, and does what it asks for in this one", async () => {
  const { hub, user, says } = await board();
  expect(screen.getByText("Has a page")).toBeTruthy();
  expect(document.querySelector("iframe"), "no page of a server is in this process").toBeNull();
  expect(screen.getByText(/It can reach https:\/\/cdn\.example\.com and nothing else/)).toBeTruthy();
  // Messages of another page are not heard.
  says({ id: 1, method: "ui/initialize" }, "other ui://x");
  says({ id: 1, method: "ui/initialize", params: {} });
  await waitFor(() => expect(hub.pagesTold).toHaveLength(1));
  says({ method: "ui/notifications/initialized" });
  says({ method: "ui/notifications/size-changed", params: { height: 4000 } });
  expect(hub.pagesTold.at(-1)!.told).toEqual({ height: 720 });
  says({ id: 2, method: "tools/call", params: { name: "search_issues", arguments: { query: "x" } } });
  await waitFor(() => expect(hub.requests.filter((request) => request.do === "try_tool").at(-1)).toMatchObject({ tool_path: "github:search_issues", page_of: "github:board", arguments: '{"query":"x"}' }));
  expect(await screen.findByText(/^Called search_issues, /)).toBeTruthy();
  says({ id: 3, method: "ui/open-link", params: { url: "https://example.com/x" } });
  expect(await screen.findByText("https://example.com/x")).toBeTruthy();
  expect([hub.opened, hub.raised], "the question is in front").toEqual([undefined, [null]]);
  await user.click(screen.getByRole("button", { name: "Open" }));
  expect([hub.opened, hub.raised.at(-1)]).toEqual(["https://example.com/x", page]);
  await user.click(screen.getByRole("button", { name: "Show page" }));
  await user.click(screen.getByRole("button", { name: "Close page" }));
  await waitFor(() => expect(hub.pagesTold.at(-1)).toEqual({ id: page, told: "closed" }));
  expect(screen.getByText(/It is closed/)).toBeTruthy();
});

test("a page whose window is closed, or whose process ended, is said to be closed", async () => {
  const { hub, says } = await board();
  says({ id: 1, method: "ui/initialize", params: {} });
  await waitFor(() => expect(hub.pagesTold).toHaveLength(1));
  hub.pageSays(page, "closed");
  expect(await screen.findByText(/It is closed/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Close page" })).toBeNull();
});

test.each([
  ["the person goes elsewhere", () => void (location.hash = "/servers")],
  ["the tool runs again", (user: ReturnType<typeof userEvent.setup>) => user.click(screen.getByRole("button", { name: "Run again" }))],
  ["a script takes its place", (user: ReturnType<typeof userEvent.setup>) => user.click(screen.getByRole("radio", { name: "Script" }))],
])("a page may end in order before %s", async (_, goes) => {
  const { hub, user, says } = await board();
  says({ id: 1, method: "ui/initialize", params: {} });
  await waitFor(() => expect(hub.pagesTold).toHaveLength(1));
  await goes(user);
  const teardown = await waitFor(() => {
    const { told } = hub.pagesTold.at(-1)!;
    if (told === "closed" || !("message" in told)) throw new Error("it is told to end");
    expect(told.message).toMatchObject({ method: "ui/resource-teardown" });
    return told.message as { id: string };
  });
  says({ id: teardown.id, result: {} });
  await waitFor(() => expect(hub.pagesTold).toContainEqual({ id: page, told: "closed" }));
});

describe("the window of a page", () => {
  test("frames it with nothing but scripts and forms, and passes messages on without deciding", async () => {
    const said: unknown[] = [];
    const fitted: number[] = [];
    let tell: (told: PageTold) => void = () => undefined;
    const side: PageSide = {
      shown: () => Promise.resolve({ id: "x", server: "panel", address: "about:blank", connect: [], load: [], refused: ["http://127.0.0.1:9"], border: null }),
      onTold: (heard) => ((tell = heard), Promise.resolve(() => undefined)),
      says: (one) => Promise.resolve(void said.push(one)),
      fit: (height) => fitted.push(height),
    };
    render(PageWindow, { side });
    const frame = await screen.findByTitle<HTMLIFrameElement>("Page of panel");
    expect([frame.getAttribute("sandbox"), frame.getAttribute("allow")]).toEqual(["allow-scripts allow-forms", ""]);
    expect(screen.getByText(/It cannot reach the network. Not allowed: http:\/\/127\.0\.0\.1:9/)).toBeTruthy();
    dispatchEvent(new MessageEvent("message", { data: "another's", source: window }));
    for (let at = 0; at < 1000; at++) dispatchEvent(new MessageEvent("message", { data: at, source: frame.contentWindow }));
    await waitFor(() => expect(said).toContainEqual({ message: 255 }));
    const told = vi.spyOn(frame.contentWindow!, "postMessage");
    tell({ message: { jsonrpc: "2.0" } });
    tell({ height: 300 });
    expect([told.mock.calls.map(([message]) => message), fitted]).toEqual([[{ jsonrpc: "2.0" }], [300]]);
    expect(said, "what is said in a loop is lost").not.toContainEqual({ message: 999 });
    expect(said).not.toContainEqual({ message: "another's" });
  });
});
