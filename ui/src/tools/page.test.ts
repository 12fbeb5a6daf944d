// A server's own page: which one there is, what it is told, and what it may have done.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import type { Json } from "./json";
import { PageHost, type PageHandlers } from "./pageHost";
import { pageOf } from "./pageOf";

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

test("a tool with a page shows it above its result, in a frame with nothing but scripts and forms", async () => {
  history.replaceState(null, "", "#/servers/github/tools/board");
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])));
  const user = userEvent.setup();
  render(App, { hub });
  expect(await screen.findByText("Has a page")).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: "Run" }));
  const frame = await screen.findByTitle<HTMLIFrameElement>("Page of board");
  expect([frame.getAttribute("sandbox"), frame.getAttribute("allow")]).toEqual(["allow-scripts allow-forms", ""]);
  expect(screen.getByText(/It can reach https:\/\/cdn\.example\.com and nothing else/)).toBeTruthy();
  // Messages of anybody else are not heard.
  dispatchEvent(new MessageEvent("message", { data: { jsonrpc: "2.0", id: 1, method: "ui/initialize" }, source: window }));
  const heard = (message: object) => dispatchEvent(new MessageEvent("message", { data: { jsonrpc: "2.0", ...message }, source: frame.contentWindow }));
  heard({ id: 1, method: "ui/initialize", params: {} });
  await new Promise((done) => setTimeout(done));
  heard({ method: "ui/notifications/initialized" });
  heard({ id: 2, method: "tools/call", params: { name: "search_issues", arguments: { query: "x" } } });
  await waitFor(() => expect(hub.requests.filter((request) => request.do === "try_tool").at(-1)).toMatchObject({ tool_path: "github:search_issues", page_of: "github:board", arguments: '{"query":"x"}' }));
  expect(await screen.findByText(/^Called search_issues, /)).toBeTruthy();
  heard({ id: 3, method: "ui/open-link", params: { url: "https://example.com/x" } });
  expect(await screen.findByText("https://example.com/x")).toBeTruthy();
  expect(hub.opened).toBeUndefined();
  await user.click(screen.getByRole("button", { name: "Open" }));
  expect(hub.opened).toBe("https://example.com/x");
  await user.click(screen.getByRole("button", { name: "Close page" }));
  await waitFor(() => expect(screen.queryByTitle("Page of board")).toBeNull());
});

test.each([
  ["the person goes elsewhere", () => void (location.hash = "/servers")],
  ["the tool runs again", (user: ReturnType<typeof userEvent.setup>) => user.click(screen.getByRole("button", { name: "Run again" }))],
  ["a script takes its place", (user: ReturnType<typeof userEvent.setup>) => user.click(screen.getByRole("radio", { name: "Script" }))],
])("a page may end in order before %s", async (_, goes) => {
  history.replaceState(null, "", "#/servers/github/tools/board");
  const user = userEvent.setup();
  render(App, { hub: fakeHub(serve(snapshot([server("github", { state: "asleep" })]))) });
  const again = screen.queryByRole("button", { name: "Run again" });
  await user.click(again ?? (await screen.findByRole("button", { name: "Run" })));
  const frame = await screen.findByTitle<HTMLIFrameElement>("Page of board");
  const heard = (message: object) => dispatchEvent(new MessageEvent("message", { data: { jsonrpc: "2.0", ...message }, source: frame.contentWindow }));
  heard({ id: 1, method: "ui/initialize", params: {} });
  await new Promise((done) => setTimeout(done));
  const told = vi.spyOn(frame.contentWindow!, "postMessage");
  await goes(user);
  await waitFor(() => expect(told.mock.calls.map(([message]) => message.method)).toEqual(["ui/resource-teardown"]));
  expect(document.contains(frame), "it is there until it has answered").toBe(true);
  heard({ id: told.mock.calls[0]![0].id, result: {} });
  await waitFor(() => expect(document.contains(frame)).toBe(false));
});
