// A call that waits for a person's word, as a person meets it: over an invented hub.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { pause } from "../consent/waking.svelte";

import App from "../App.svelte";
import Asked from "./Asked.svelte";
import type { Ask } from "../lib/hub/generated";
import type { Prompts, QuestionRequest } from "../lib/hub/hub";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

beforeEach(() => void (pause.ms = 800));
afterEach(() => void (pause.ms = 0));

const evil = `<img src=x onerror="document.title='owned'">`;
const ask = (id: number, more: Partial<Ask> = {}): Ask => ({
  id,
  client: "cursor",
  server: "github",
  tool: "delete_branch",
  effect: "deletes",
  stated: true,
  arguments: [{ title: "Branch", value: evil }],
  json: "{}",
  rule: "tools that delete: ask first",
  usual: { tools: "deletes", permit: "ask" },
  since_ms: Date.now(),
  until_ms: Date.now() + 60_000,
  ...more,
});

let pictures: Record<string, string> = {};
async function open(...waiting: Ask[]) {
  const requests: QuestionRequest[] = [];
  const fits: number[] = [];
  let heard: (asks: Ask[]) => void = () => undefined;
  let asks = waiting;
  const prompts: Prompts = {
    asks: async () => asks,
    onAsks: async (listener) => {
      heard = listener;
      return () => undefined;
    },
    answer: async (request) => {
      requests.push(request);
      if (request.do === "reading_ask") return;
      asks = asks.filter(({ id }) => id !== request.id);
      heard(asks);
    },
    fit: (height) => fits.push(height),
    pictures: async () => pictures,
  };
  render(Asked, { prompts });
  return { requests };
}
const answers = (hub: { requests: QuestionRequest[] }) => hub.requests.filter((request) => request.do !== "reading_ask");
const patience = (ms: number) => new Promise((done) => setTimeout(done, ms));

test("a server that has a picture is shown with it, and Cursor with its mark", async () => {
  pictures = { github: "data:image/png;base64,iVBORw0KGgo=" };
  await open(ask(7));
  await waitFor(() => expect(document.querySelector<HTMLImageElement>(".tile img")?.src).toBe(pictures.github));
  pictures = {};
});

test("the call is shown with what its server says, as text, and nothing is allowed at first or by Enter", async () => {
  const hub = await open(ask(7));
  expect(await screen.findByText("Cursor wants to run delete_branch")).toBeTruthy();
  expect(screen.getByText("github says this tool may delete or overwrite something.")).toBeTruthy();
  expect(screen.getByText(evil)).toBeTruthy();
  expect(document.querySelector("img")).toBeNull();
  expect(document.activeElement?.textContent).toBe("Do not allow");
  screen.getByRole("button", { name: "Allow once" }).click();
  expect(answers(hub)).toEqual([]);
  await patience(850);
  const allow = screen.getByRole("button", { name: "Allow once" });
  allow.focus();
  await userEvent.keyboard("{Enter}");
  expect(answers(hub)).toEqual([]);
  await userEvent.click(allow);
  expect(answers(hub)).toEqual([{ do: "answer_ask", id: 7, answer: "once" }]);
  await waitFor(() => expect(screen.queryByText("Cursor wants to run delete_branch")).toBeNull());
});

test("Escape is a no, and the next question begins with its own moment", async () => {
  const hub = await open(ask(1), ask(2, { client: "zed", tool: "purge", stated: false }));
  expect(await screen.findByText("1 of 2")).toBeTruthy();
  await userEvent.keyboard("{Escape}");
  expect(answers(hub)).toEqual([{ do: "answer_ask", id: 1, answer: "no" }]);
  expect(await screen.findByText("Zed wants to run purge")).toBeTruthy();
  expect(screen.getByText(/Judging by its name, it may delete something/)).toBeTruthy();
  screen.getByRole("button", { name: "Allow once" }).click();
  expect(answers(hub)).toHaveLength(1);
});

test("for this session, and no more of it", async () => {
  const hub = await open(ask(1), ask(2));
  await screen.findByText("1 of 2");
  await patience(850);
  await userEvent.click(screen.getByRole("checkbox", { name: /Do not ask again/ }));
  await userEvent.click(screen.getByRole("button", { name: "Allow once" }));
  await waitFor(() => expect(screen.queryByText("1 of 2")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "No, and stop asking" }));
  expect(answers(hub)).toEqual([
    { do: "answer_ask", id: 1, answer: "session" },
    { do: "answer_ask", id: 2, answer: "mute" },
  ]);
});

test("whoever reads is not hurried", async () => {
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const hub = await open(ask(3));
  await vi.advanceTimersByTimeAsync(90_000);
  expect(answers(hub)).toEqual([]);
  expect(hub.requests).toContainEqual({ do: "reading_ask", id: 3 });
  vi.restoreAllMocks();
});

test("what is stored goes to the hub under the number of its question", async () => {
  const hub = await open(ask(9, { tool: "", question: { message: "", kind: "credential", name: "GITHUB_TOKEN" } }));
  expect(await screen.findByText("github needs a credential")).toBeTruthy();
  await userEvent.type(screen.getByLabelText("GITHUB_TOKEN"), "s3cret");
  await patience(850);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(answers(hub)).toEqual([{ do: "answer_secret", id: 9, value: "s3cret" }]);
  expect(document.documentElement.outerHTML).not.toContain("s3cret");
});

test("a rule made beside a tool is one of the configuration", async () => {
  history.replaceState(null, "", "#/servers/github/tools");
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])));
  render(App, { hub });
  const permit = await screen.findByRole("combobox", { name: "May merge_pull_request be called?" });
  expect((permit as HTMLSelectElement).value).toBe("allow");
  await userEvent.selectOptions(permit, "off");
  expect(hub.requests).toContainEqual({ do: "change", change: "set_permit", tool: "github:merge_pull_request", client: null, permit: "off" });
});
