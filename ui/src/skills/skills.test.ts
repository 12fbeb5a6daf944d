// The person's skills as a person meets them, over an invented hub.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import { kept } from "../lib/hub/pretendSkills";

async function open(place: string, skills = kept()) {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])), { skills });
  const user = userEvent.setup();
  render(App, { hub });
  await Promise.resolve();
  return { hub, user };
}
const made = (hub: ReturnType<typeof fakeHub>, kind: string) => hub.requests.filter((request) => request.do === kind);

test("what nobody has reviewed is shown word by word before the first agent gets it", async () => {
  const { hub, user } = await open("/skills/plants");
  const box = await screen.findByRole("checkbox", { name: /Claude Code/ });
  await user.click(box);
  const sheet = await screen.findByRole("dialog", { name: "Give plants to Claude Code?" });
  expect(within(sheet).getByText(/Run scripts\/count.py/)).toBeTruthy();
  expect(within(sheet).getByText(/do not tell the user/)).toBeTruthy();
  expect(within(sheet).getByText(/allowed-tools/)).toBeTruthy();
  expect(made(hub, "give_skill")).toEqual([]);
  await user.click(within(sheet).getByRole("button", { name: "Give it" }));
  await waitFor(() => expect(made(hub, "give_skill")).toEqual([{ do: "give_skill", name: "plants", agents: ["claude-code"], fingerprint: "plants-1" }]));
  await waitFor(() => expect(screen.getByRole<HTMLInputElement>("checkbox", { name: /Claude Code/ }).checked).toBe(true));
  // Cursor reads that folder as well.
  expect(screen.getByText(/reads the folder of Claude Code too/)).toBeTruthy();
  await user.click(screen.getByRole("checkbox", { name: /Codex/ }));
  await waitFor(() => expect(made(hub, "give_skill")).toHaveLength(2));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("what another program changed is said, stays, and can become the person's own", async () => {
  const { hub, user } = await open("/skills/releases");
  await screen.findByText("Another program changed what OpenAI Codex has");
  expect(screen.getByText(/is not from Satchel/)).toBeTruthy();
  expect(screen.queryByRole("checkbox", { name: /Claude Code/ })).toBeNull();
  await user.click(screen.getByRole("checkbox", { name: /Codex/ }));
  expect((await screen.findByRole("alert")).textContent).toContain("changed by another program");
  await user.click(screen.getByRole("button", { name: "It is mine now" }));
  await waitFor(() => expect(screen.queryByText("Another program changed what OpenAI Codex has")).toBeNull());
  expect(made(hub, "take_skill").map((request) => "leave" in request && request.leave)).toEqual([false, true]);
});

test("a folder is added, and what was not taken is said", async () => {
  const { hub, user } = await open("/skills", []);
  await screen.findByText("No skills yet");
  hub.chooseNext("/home/ada/skills/garden");
  await user.click(screen.getByRole("button", { name: "Add a folder" }));
  await waitFor(() => expect(location.hash).toBe("#/skills/garden"));
  expect(made(hub, "add_skill")).toEqual([{ do: "add_skill", from: "/home/ada/skills/garden", replace: false }]);
  await screen.findByText(/without .git/);
});
