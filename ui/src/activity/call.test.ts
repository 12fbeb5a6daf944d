// One call as a person reads it: what was sent and answered, the switch that keeps it, and its session as a waterfall.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "../App.svelte";
import type { CallLine } from "../lib/hub/generated";
import { fakeHub, open as serve, server, snapshot, type Telling } from "../lib/hub/fake";
import { lines } from "./lines";
import { laidOut, mediaIn, readByModel, stretches } from "./payload";
import { turns } from "./trace";

const call = (id: number, time_ms: number, took_ms: number, more: Partial<CallLine> = {}): CallLine => ({
  id,
  time_ms,
  session: 1,
  client: "cursor",
  kind: "call",
  server: "github",
  tool: "search_issues",
  outcome: "ok",
  code: null,
  message: null,
  took_ms,
  waited_ms: 0,
  woke_ms: 0,
  tokens: null,
  argument: null,
  kept_out: null,
  ...more,
});

test("the list shows calls in the order in which they began, whichever ended first", () => {
  const long = call(3, 1_000, 5_000, { tool: "search" });
  const drawn = lines([long, call(2, 3_000, 10, { tool: "read" }), call(1, 500, 10)], new Map());
  expect(drawn.map((line) => (line.kind === "call" ? line.call.id : line.last))).toEqual([3_000, 2, 3, 1]);
});

describe("a waterfall", () => {
  test("has the calls in order, each where it began in its turn", () => {
    const [turn] = turns([call(2, 1_100, 900, { waited_ms: 300, woke_ms: 400 }), call(1, 1_000, 50)]);
    expect(turn?.steps.map(({ call, from }) => [call.id, from])).toEqual([[1, 0], [2, 0.1]]);
    expect(turn?.steps[1]!.parts).toEqual([
      { part: "waited", ms: 300, share: 0.3 },
      { part: "woke", ms: 400, share: 0.4 },
      { part: "worked", ms: 200, share: 0.2 },
    ]);
    expect(turn?.took).toBe(1_000);
  });

  test("begins anew after a pause, and stands calls of no time somewhere", () => {
    const drawn = turns([call(1, 0, 100), call(2, 60_000, 0), call(3, 60_000, 0)]);
    expect(drawn.map((turn) => [turn.steps.length, turn.pause])).toEqual([[1, 0], [2, 59_900]]);
    expect(drawn[1]!.steps.every(({ from }) => from === 0)).toBe(true);
    expect(turns([])).toEqual([]);
  });

  test("does not give a call less than no time of its own", () => {
    const [turn] = turns([call(1, 0, 100, { waited_ms: 250 })]);
    expect(turn?.steps[0]!.parts.at(-1)).toEqual({ part: "worked", ms: 0, share: 0 });
  });
});

describe("what was sent and answered", () => {
  test("is laid out where it is JSON, with every digit", () => {
    expect(laidOut('{"a":[1,12345678901234567890]}')).toBe('{\n  "a": [\n    1,\n    12345678901234567890\n  ]\n}');
    expect(laidOut("not { JSON")).toBe("not { JSON");
  });

  test("is read as a model does where it is a result", () => {
    expect(readByModel('{"content":[{"type":"text","text":"{\\"a\\":1}"},{"type":"image"},{"type":"text","text":"b"}]}')).toBe('{\n  "a": 1\n}\nb');
    expect(readByModel('{"contents":[{"uri":"x:","text":"y"}]}')).toBe("y");
    expect(mediaIn('{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"text","text":"b"}]}')).toEqual([{ is: "image", source: "data:image/png;base64,AAAA", type: "image/png", bytes: 3 }]);
    expect(mediaIn("cut {")).toEqual([]);
    for (const other of ["[1]", "null", "cut {", '{"content":[]}']) expect(readByModel(other)).toBeUndefined();
  });

  test("is marked where it says what was looked for", () => {
    expect(stretches("Login loop, login", "login")).toEqual(["", "Login", " loop, ", "login", ""]);
    expect(stretches("İstanbul", "stan").join("")).toBe("İstanbul");
    expect(stretches("a", "")).toEqual(["a"]);
  });
});

const ledger = { newest: 30, counted: 1, calls_hour: 1, failures_hour: 0, net_today: 0, records: true, learns: true, days: 30 };
const servers = ["github", "playwright", "context7", "sentry", "filesystem", "fetch"].map((name) => server(name, { state: "asleep" }));

async function open(id: number, telling: Telling = {}) {
  history.replaceState(null, "", `#/activity/${id}`);
  const hub = fakeHub(serve(snapshot(servers, { ledger })), { calls: 30, ...telling });
  render(App, { hub });
  return { hub, user: userEvent.setup() };
}
/** The first call of a server's tool in the invented history. */
const ofTool = async () => {
  const hub = fakeHub(serve(snapshot(servers)), { calls: 30 });
  const page = await hub.ask({ do: "activity", before: null, limit: 30, problems: false, asked: false, client: null, server: null, tool: null, session: null, from_ms: null, to_ms: null });
  return page.calls.find((one) => one.kind === "call" && one.outcome === "ok")!;
};

describe("one call", () => {
  test("offers to keep arguments and results where there are none, and does so for its server", async () => {
    const line = await ofTool();
    const { hub, user } = await open(line.id, { unkept: true });
    await user.click(await screen.findByRole("button", { name: "Keep for 30 days, secrets removed" }));
    expect(hub.requests).toContainEqual({ do: "change", change: "set_keep_calls", name: line.server, keep: true });
    expect(await screen.findByText(`Calls of ${line.server} are kept from now on. This one was made before.`)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Keep no more" }));
    expect(await screen.findByRole("button", { name: "Keep for 30 days, secrets removed" })).toBeTruthy();
  });

  test("says why nothing was changed", async () => {
    const { hub, user } = await open((await ofTool()).id, { unkept: true });
    const keep = await screen.findByRole("button", { name: "Keep for 30 days, secrets removed" });
    hub.refuseNext("change", { code: "config_invalid", message: "the file cannot be read", action: "" });
    await user.click(keep);
    expect((await screen.findByRole("alert")).textContent).toContain("The file cannot be read");
  });

  test("shows its arguments with their size, and finds words in its result", async () => {
    const { user } = await open((await ofTool()).id);
    const sent = await screen.findByRole("region", { name: "Arguments" });
    expect(sent.textContent).toContain('"query": "login loop"');
    expect(sent.closest("section")!.textContent).toContain("184 bytes");
    await user.type(await screen.findByLabelText("Find in Result"), "login");
    expect(await screen.findByText("1 of 1")).toBeTruthy();
    expect(document.querySelector("mark")?.textContent).toBe("Login");
    await user.type(screen.getByLabelText("Find in Result"), " nowhere");
    expect(await screen.findByText("Not found")).toBeTruthy();
  });

  test("is run again from its first field, not from Close", async () => {
    const { user } = await open((await ofTool()).id);
    await user.click(await screen.findByRole("button", { name: "Run again…" }));
    const sheet = await screen.findByRole("dialog", { name: /^Run .* again$/ });
    await waitFor(() => expect(within(sheet).getAllByRole("textbox")).toContain(document.activeElement));
  });

  test("leads to its session, and from there to another call", async () => {
    const line = await ofTool();
    const { user } = await open(line.id);
    await user.click(await screen.findByRole("button", { name: "Whole session" }));
    const sheet = await screen.findByRole("dialog", { name: "The session, call by call" });
    const steps = await within(sheet).findAllByRole("button", { name: /worked \d/ });
    expect(steps.filter((step) => step.getAttribute("aria-current") === "true")).toHaveLength(1);
    const other = steps.find((step) => step.getAttribute("aria-current") === null)!;
    await user.click(other);
    await waitFor(() => expect(location.hash).not.toBe(`#/activity/${line.id}`));
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});
