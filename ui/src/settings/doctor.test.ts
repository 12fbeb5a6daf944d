// What the doctor found, in the window; and the sections of the settings.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import type { DoctorFinding } from "../lib/hub/generated";
import { inOrder, linked, placeOf, summary } from "./doctor";

async function open(place: string) {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])));
  render(App, { hub });
  return { hub, user: userEvent.setup() };
}
const finding = (verdict: DoctorFinding["verdict"], about: DoctorFinding["about"], subject: string): DoctorFinding => ({ about, subject, verdict, message: "m", action: "" });

test("what is wrong comes first, and is counted", () => {
  const found = [finding("fine", "hub", "hub"), finding("note", "search", "search"), finding("wrong", "server", "server a b")];
  expect(inOrder(found).map((one) => one.verdict)).toEqual(["wrong", "note", "fine"]);
  expect(summary(found)).toEqual({ wrong: 1, note: 1 });
  expect(found.map(placeOf)).toEqual([undefined, undefined, "/servers/a%20b"]);
});

test("only addresses of pages in a text are links", () => {
  expect(linked("Install uv from https://docs.astral.sh/uv/.")).toEqual([{ text: "Install uv from " }, { text: "https://docs.astral.sh/uv/", page: "https://docs.astral.sh/uv/" }, { text: "." }]);
  for (const plain of ["file:///etc/passwd", "javascript:alert(1)", "nothing"]) expect(linked(plain)).toEqual([{ text: plain }]);
});

test("the doctor says what does not work first, with what to do, and opens pages and places", async () => {
  const { hub, user } = await open("/settings/doctor");
  expect(await screen.findByText("2 things do not work, 1 note.")).toBeTruthy();
  const [first] = within(document.querySelector("main")!).getAllByRole("listitem").filter((item) => item.className.includes("wrong"));
  expect(first!.textContent).toContain("Windsurf");
  await user.click(screen.getByRole("button", { name: "https://docs.astral.sh/uv/" }));
  expect(hub.opened).toBe("https://docs.astral.sh/uv/");
  await user.click(screen.getByRole("button", { name: "Open the configuration file" }));
  expect(hub.openedPlace).toBe("configuration");
  await user.click(screen.getByRole("button", { name: "Show Server github" }));
  await waitFor(() => expect(location.hash).toBe("#/servers/github"));
});

test("the settings have sections that can be led to", async () => {
  const { hub, user } = await open("/settings");
  expect((await screen.findByRole("link", { name: "General" })).getAttribute("aria-current")).toBe("page");
  await user.click(screen.getByRole("link", { name: "About and files" }));
  await user.click(await screen.findByRole("button", { name: "Open Logs" }));
  expect(hub.openedPlace).toBe("logs");
});
