// What the doctor found, in the window; and the sections of the settings.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";
import type { DoctorFinding } from "../lib/hub/generated";
import { examination } from "../lib/hub/pretend";
import { de } from "../words/de";
import { en } from "../words/en";
import { codeOf, inOrder, linked, placeOf, summary } from "./doctor";

async function open(place: string) {
  history.replaceState(null, "", `#${place}`);
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])));
  render(App, { hub });
  return { hub, user: userEvent.setup() };
}
const finding = (verdict: DoctorFinding["verdict"], about: DoctorFinding["about"], subject: string): DoctorFinding => ({ about, subject, verdict, message: "m", action: "", code: "hub_absent" });

test("what is wrong comes first, and is counted", () => {
  const found = [finding("fine", "hub", "hub"), finding("note", "search", "search"), finding("wrong", "server", "server a b")];
  expect(inOrder(found).map((one) => one.verdict)).toEqual(["wrong", "note", "fine"]);
  expect(summary(found)).toEqual({ wrong: 1, note: 1 });
  expect(found.map(placeOf)).toEqual([undefined, undefined, "/servers/a%20b"]);
  const noticed = (notice: "settings_held" | "setup_differs") => ({ ...finding("note", "hub", "hub"), code: "noticed", notice, why: "w" }) as DoctorFinding;
  expect([placeOf(noticed("settings_held")), placeOf(noticed("setup_differs"))]).toEqual(["/servers", "/settings/setup"]);
});

test("findings are said in the language of the window, with what to do", async () => {
  const said = examination.findings.map((one) => [de.settings.doctor.found(one, "Schläft"), de.settings.doctor.act(one)]);
  expect(said).toContainEqual(["uvx ist nicht im PATH", "Installiere uv von https://docs.astral.sh/uv/."]);
  expect(said).toContainEqual(["Schläft; /usr/bin/docker", ""]);
  expect(said).toContainEqual(["2 gespeichert, im Schlüsselbund", ""]);
  expect(said).toContainEqual(["Satchels Eintrag steht nicht mehr in seiner Datei", "Verbinde ihn neu, unter Clients oder mit `satchel connect windsurf`."]);
  const lacking = { ...examination.findings.find((one) => one.subject === "server github")!, verdict: "wrong", action: "a", lacks: ["KEY", "HOST"], variables: ["HOST"] } as DoctorFinding;
  expect([de.settings.doctor.found(lacking, "Schläft"), de.settings.doctor.act(lacking)]).toEqual([
    "Braucht KEY, HOST; /usr/bin/docker",
    "Trag es auf der Seite des Servers ein. Setze HOST in der Umgebung, in der Satchel gestartet wird.",
  ]);
  const absent = { ...finding("note", "runtime", "runtime /opt/npx"), code: "runtime", program: { absent: "/opt/npx" }, install: null } as DoctorFinding;
  expect(de.settings.doctor.found(absent)).toBe("/opt/npx gibt es nicht");
  await de.rest();
  expect(de.cause({ code: "exited_early", message: "exited with 1" })).toBe("Das Programm endete, bevor es bereit war: exited with 1");
  const english = new Set(examination.findings.map((one) => en.settings.doctor.found(one)));
  const same = said.filter(([text]) => english.has(text!) && !text!.startsWith("/"));
  expect(same, "nothing but a path is the same in both").toEqual([]);
});

test("what helps is told by the code of the finding or of its server", () => {
  const [seen] = examination.findings.filter((one) => one.subject === "server puppeteer");
  const troubled = server("puppeteer", { state: "broken", code: "spawn_not_found", message: "m", retry_at_ms: 0, failures: 3 });
  expect(codeOf(seen!, troubled)).toBe("spawn_not_found");
  expect(codeOf(seen!)).toBeUndefined();
  expect(codeOf({ ...finding("note", "hub", "hub"), code: "noticed", notice: "vault_locked", why: "w" } as DoctorFinding)).toBe("vault_locked");
});

test("the window names its own way where the hub names a command of the terminal", () => {
  const missing = { ...finding("wrong", "server", "server a"), action: "Install it, or write its full path; `satchel doctor` lists where it looked." } as DoctorFinding;
  expect(en.settings.doctor.act(missing, en.remedy.runtime_missing)).toBe("Install it (Node for npx, uv for uvx), or enter its full path as the command.");
  expect(en.settings.doctor.act(missing)).toBe(missing.action);
});

test("only addresses of pages in a text are links", () => {
  expect(linked("Install uv from https://docs.astral.sh/uv/.")).toEqual([{ text: "Install uv from " }, { text: "https://docs.astral.sh/uv/", page: "https://docs.astral.sh/uv/" }, { text: "." }]);
  expect(linked("Run `curl https://a.example/b.sh | sh`, or see https://a.example").filter((part) => part.page)).toEqual([{ text: "https://a.example", page: "https://a.example" }]);
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
