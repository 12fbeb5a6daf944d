// A tool's page and the form that tries it, over an invented hub.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "../App.svelte";
import { WINDOW } from "../clients/names";
import type { Ask } from "../lib/hub/generated";
import { fakeHub, open as serve, server, snapshot, type Telling } from "../lib/hub/fake";

async function open(place: string, telling: Telling = {}) {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" }), server("toolbox", { state: "asleep" })])), telling);
  const user = userEvent.setup();
  render(App, { hub });
  await Promise.resolve();
  return { hub, user };
}
type FakeHub = Awaited<ReturnType<typeof open>>["hub"];
const tried = (hub: FakeHub) => hub.requests.flatMap((request) => (request.do === "try_tool" ? [JSON.parse(request.arguments) as unknown] : []));
const field = (name: string) => screen.findByLabelText(name);

describe("a tool's page", () => {
  test("is opened from the list of tools, and Escape goes back there", async () => {
    const { user } = await open("/servers/github/tools");
    await user.click(await screen.findByRole("link", { name: "create_issue" }));
    expect(location.hash).toBe("#/servers/github/tools/create_issue");
    const heading = await screen.findByRole("heading", { name: "create_issue" });
    await waitFor(() => expect(document.activeElement).toBe(heading));
    expect(screen.getByText("Satchel asks you before it runs.")).toBeTruthy();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(location.hash).toBe("#/servers/github/tools"));
  });

  test("runs the tool with what stands in the form, and shows what came of it", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues");
    await user.type(await field("query"), "login");
    await user.type(await field("owner"), "acme");
    await user.selectOptions(await field("state"), "all");
    await user.click(screen.getByLabelText("bug"));
    await user.type(await field("limit"), "5");
    await user.click(screen.getByRole("button", { name: "Run" }));
    const table = await screen.findByRole("table");
    expect(within(table).getAllByRole("row")).toHaveLength(4);
    expect(document.querySelector("[data-facts]")?.textContent).toMatch(/^412 ms · about \d+ tokens · \d+ bytes$/);
    expect(tried(hub)).toEqual([{ query: "login", owner: "acme", state: "all", labels: ["bug"], limit: 5 }]);
    await user.click(within(screen.getByRole("radiogroup", { name: "How the result is shown" })).getByRole("radio", { name: "JSON" }));
    expect((await screen.findByRole("region", { name: "Result" })).textContent).toContain('"structuredContent"');
  });

  test("Enter runs it from a field, and not from a box or a choice", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues");
    await user.type(await field("query"), "login");
    await user.type(await field("owner"), "acme");
    screen.getByLabelText("bug").focus();
    await user.keyboard("{Enter}");
    screen.getByRole("radio", { name: "Form" }).focus();
    await user.keyboard("{Enter}");
    expect(tried(hub)).toEqual([]);
    await user.type(screen.getByLabelText("limit"), "5{Enter}");
    await waitFor(() => expect(tried(hub)).toEqual([{ query: "login", owner: "acme", limit: 5 }]));
  });

  test("what must be there and is not is said at its field, and nothing runs", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues");
    await user.type(await field("limit"), "many");
    await user.click(await screen.findByRole("button", { name: "Run" }));
    await screen.findByText("query is required.");
    expect(screen.getByText("This is not a number.")).toBeTruthy();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("query")));
    await user.type(screen.getByLabelText("query"), "x");
    await waitFor(() => expect(screen.queryByText("query is required.")).toBeNull());
    expect(tried(hub)).toEqual([]);
  });

  test("form and JSON are one value, and what the form does not show stays", async () => {
    const { hub, user } = await open("/servers/github/tools/merge_pull_request");
    const json = await field("Arguments as JSON");
    await user.clear(json);
    await user.type(json, '{{"odd":[[1.10],"number":7');
    expect(screen.getByText("The arguments must be a JSON object.")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Run" }).disabled).toBe(true);
    await user.type(json, "}");
    const number = await field("number");
    await waitFor(() => expect((number as HTMLInputElement).value).toBe("7"));
    await user.clear(number);
    await user.type(number, "12345678901234567890");
    expect((json as HTMLTextAreaElement).value).toContain("12345678901234567890");
    await user.click(screen.getByRole("button", { name: "Run" }));
    await screen.findByText("The tool reported an error");
    const sent = hub.requests.find((request) => request.do === "try_tool");
    expect(sent?.do === "try_tool" && sent.arguments).toBe('{"odd":[1.10],"number":12345678901234567890}');
  });

  test("lists, objects, maps and cases are written part by part", async () => {
    const { hub, user } = await open("/servers/github/tools/create_issue");
    for (const name of ["owner", "repo", "title"]) await user.type(await field(name), name);
    await user.selectOptions(screen.getByLabelText("Which kind of assignee"), "Several");
    await user.click(screen.getByRole("button", { name: "Add to assignee" }));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("assignee 1")));
    await user.type(await field("assignee 1"), "ada");
    await user.click(screen.getByRole("button", { name: "Set milestone" }));
    const milestone = screen.getByRole("group", { name: "milestone" });
    await user.type(within(milestone).getByLabelText("title"), "1.0");
    await user.type(screen.getByLabelText("Name of a new entry in fields"), "sprint{Enter}");
    await user.type(await field("sprint"), "12");
    await user.click(screen.getByRole("button", { name: "Run" }));
    await waitFor(() => expect(tried(hub)).toEqual([{ owner: "owner", repo: "repo", title: "title", assignee: ["ada"], milestone: { title: "1.0" }, fields: { sprint: "12" } }]));
  });

  test("a tool is pinned for every client and unpinned with one switch", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues");
    const pin = await screen.findByRole("switch", { name: "search_issues, always visible to clients" });
    expect(pin.getAttribute("aria-checked")).toBe("false");
    await user.click(pin);
    await waitFor(() => expect(pin.getAttribute("aria-checked")).toBe("true"));
    await user.click(pin);
    await waitFor(() => expect(pin.getAttribute("aria-checked")).toBe("false"));
    const change = (pinned: boolean) => ({ do: "change", change: "pin_tool", pin: { tool: "github:search_issues" }, pinned });
    expect(hub.requests.filter((request) => request.do === "change")).toEqual([change(true), change(false)]);
  });

  test("a link in a result is opened by a person alone, who reads its address first", async () => {
    const { hub, user } = await open("/servers/github/tools/create_issue");
    for (const name of ["owner", "repo", "title"]) await user.type(await field(name), name);
    await user.click(screen.getByRole("button", { name: "Run" }));
    await user.click(await screen.findByRole("button", { name: "on its page" }));
    const ask = await screen.findByRole("group", { name: "Open a page" });
    expect(within(ask).getByText("https://github.com/acme/web/issues/4119")).toBeTruthy();
    expect(hub.opened).toBeUndefined();
    await user.click(within(ask).getByRole("button", { name: "Open" }));
    expect(hub.opened).toBe("https://github.com/acme/web/issues/4119");
    expect(document.querySelector("[data-out] a, [data-out] script, [data-out] iframe")).toBeNull();
  });

  test("a call under way says how it gets on and is cancelled", async () => {
    const { hub, user } = await open("/servers/github/tools/list_pull_requests", { slow: true });
    await user.click(await screen.findByRole("button", { name: "Run" }));
    await screen.findByText(/Reading page 3/);
    expect(screen.getByText("info Opened the archive")).toBeTruthy();
    expect(screen.getByRole<HTMLProgressElement>("progressbar").value).toBe(3);
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await screen.findByRole("region", { name: "Result" });
    const run = (kind: string) => hub.requests.flatMap((request) => (request.do === kind && "run" in request ? [request.run] : []));
    expect(run("cancel_try")).toEqual(run("try_tool"));
  });

  test("what was written and what came of it are there again later", async () => {
    const { user } = await open("/servers/github/tools/get_file_contents");
    for (const name of ["owner", "repo", "path"]) await user.type(await field(name), name);
    await user.click(screen.getByRole("button", { name: "Run" }));
    const picture = await screen.findByRole<HTMLImageElement>("img", { name: /^Picture from the tool/ });
    expect(picture.src).toMatch(/^data:image\/png;base64,/);
    await user.keyboard("{Escape}");
    await user.click(await screen.findByRole("link", { name: "get_file_contents" }));
    expect(((await field("path")) as HTMLInputElement).value).toBe("path");
    expect(screen.getByRole("img", { name: /^Picture from the tool/ })).toBeTruthy();
  });

  test("the call is copied for elsewhere, without a token", async () => {
    const { hub, user } = await open("/servers/toolbox/tools/current_time");
    await user.type(await field("timezone"), "Asia/Tokyo");
    await user.click(screen.getByRole("button", { name: "Copy as…" }));
    await user.click(screen.getByRole("menuitem", { name: "curl" }));
    await waitFor(() => expect(hub.copied).toContain("Bearer YOUR_TOKEN"));
    expect(hub.copied).toContain('"timezone":"Asia/Tokyo"');
  });
});

describe("elsewhere", () => {
  test("a call of the history is run again in the form of its tool", async () => {
    const { hub, user } = await open("/activity/40", { calls: 40 });
    await user.click(await screen.findByRole("button", { name: "Run again…" }));
    const sheet = await screen.findByRole("dialog");
    await user.click(await within(sheet).findByRole("button", { name: /^Run/ }));
    await waitFor(() => expect(hub.requests.some((request) => request.do === "tool")).toBe(true));
  });

  test("the last step of the first minute makes a call of its own", async () => {
    const { hub, user } = await open("/welcome/3");
    await user.click(await screen.findByRole("button", { name: "Run current_time here" }));
    await screen.findByText("2026-11-21T09:14:02+01:00");
    expect(tried(hub)).toEqual([{}]);
  });

  test("a call of our own says that Satchel works, and what is still to do", async () => {
    const { hub, user } = await open("/welcome/3");
    const line = { id: 1, time_ms: 0, session: 1, client: WINDOW, kind: "call", server: "toolbox", tool: "current_time", outcome: "ok" };
    const ask = hub.ask.bind(hub);
    hub.ask = async (request) => (request.do === "activity" ? ({ calls: [line], more: false } as never) : ask(request));
    await user.click(await screen.findByRole("button", { name: "Run current_time here" }));
    expect(await screen.findByRole("heading", { name: "It works here" })).toBeTruthy();
    expect(screen.queryByText(/needs nothing from you/)).toBeNull();
    expect(screen.getByText(/^Satchel works\. Next, open one of your clients/)).toBeTruthy();
  });
});

describe("a script that is tried", () => {
  test("is begun with the tool's call, runs with its input, and shows its result and its calls", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues");
    await user.click(await screen.findByRole("radio", { name: "Script" }));
    const script = await screen.findByLabelText<HTMLTextAreaElement>("Script", { selector: "textarea" });
    expect(script.value).toContain('call("github:search_issues", ');
    await user.clear(script);
    await user.type(script, "return input.n");
    await user.type(screen.getByLabelText("Input as JSON"), '{{"n":12345678901234567890}');
    await user.click(screen.getByRole("button", { name: "Run" }));
    const calls = await screen.findByRole("list", { name: "2 calls" });
    expect(within(calls).getAllByRole("listitem").map((item) => item.textContent)).toEqual(["github:search_issues120 ms", "github:get_issue31 ms"]);
    expect(hub.requests.filter((request) => request.do === "try_script")).toMatchObject([{ script: "return input.n", input: '{"n":12345678901234567890}' }]);
  });

  test("that fails says so, and what its calls came to", async () => {
    const { user } = await open("/servers/github/tools/search_issues");
    await user.click(await screen.findByRole("radio", { name: "Script" }));
    const script = await screen.findByLabelText("Script", { selector: "textarea" });
    await user.clear(script);
    await user.type(script, "throw 1");
    await user.click(screen.getByRole("button", { name: "Run" }));
    expect(await screen.findByText("The script failed")).toBeTruthy();
    expect((await screen.findByRole("list", { name: "2 calls" })).textContent).toContain("failed · not finished");
  });

  test("can be cancelled while it runs", async () => {
    const { hub, user } = await open("/servers/github/tools/search_issues", { slow: true });
    await user.click(await screen.findByRole("radio", { name: "Script" }));
    await user.click(await screen.findByRole("button", { name: "Run" }));
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(hub.requests.some((request) => request.do === "cancel_try")).toBe(true);
  });
});

test("what is asked during a call is answered on the spot", async () => {
  const { hub, user } = await open("/servers/github/tools/list_pull_requests", { slow: true });
  await user.click(await screen.findByRole("button", { name: "Run" }));
  const ask: Ask = { id: 7, client: "Satchel window", server: "github", tool: "list_pull_requests", effect: "writes", stated: true, arguments: [], json: "{}", rule: "what writes asks", since_ms: Date.now(), until_ms: Date.now() + 60_000 };
  const state = await hub.state();
  if (state.hub === "open") hub.become(serve({ ...state.snapshot, version: state.snapshot.version + 1, asks: [ask] }));
  const allow = await screen.findByRole("button", { name: "Allow once" });
  const answers = () => hub.requests.filter((request) => request.do === "answer_ask");
  await waitFor(() => expect(allow.getAttribute("aria-disabled")).toBe("false"), { timeout: 3000 });
  await user.click(allow);
  await waitFor(() => expect(answers()).toEqual([{ do: "answer_ask", id: 7, answer: "once" }]));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull());
  // The keyboard goes on from the call.
  await waitFor(() => expect(document.activeElement?.hasAttribute("data-run")).toBe(true));
});

test("a question is asked where its own tool is tried, and not on another's page", async () => {
  const { hub, user } = await open("/servers/github/tools/list_pull_requests", { slow: true });
  await user.click(await screen.findByRole("button", { name: "Run" }));
  const ask: Ask = { id: 8, client: WINDOW, server: "github", tool: "list_pull_requests", effect: "writes", stated: true, arguments: [], json: "{}", rule: "what writes asks", since_ms: Date.now(), until_ms: Date.now() + 60_000 };
  const state = await hub.state();
  if (state.hub === "open") hub.become(serve({ ...state.snapshot, version: state.snapshot.version + 1, asks: [ask] }));
  expect(await screen.findByRole("button", { name: "Allow once" })).toBeTruthy();
  location.hash = "/servers/github/tools/search_issues";
  await screen.findByRole("heading", { name: /search_issues/ });
  expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull();
  location.hash = "/servers/github/tools/list_pull_requests";
  expect(await screen.findByRole("button", { name: "Allow once" })).toBeTruthy();
});
