// The whole setup in the window: written into a file, compared before anything is taken, followed in a folder.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot, type Telling } from "../lib/hub/fake";

async function open(telling: Telling = {}) {
  history.replaceState(null, "", "#/settings/setup");
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])), telling);
  render(App, { hub });
  await screen.findByRole("button", { name: "Export the setup" });
  return { hub, user: userEvent.setup() };
}
const asked = (hub: Awaited<ReturnType<typeof open>>["hub"], what: string) => hub.requests.filter((request) => request.do === what);

test("credentials go into the file only under a passphrase that was typed twice", async () => {
  const { hub, user } = await open();
  hub.chooseNext("/home/you/setup.satchel.json");
  await user.click(screen.getByRole("button", { name: "Export the setup" }));
  const sheet = within(screen.getByRole("dialog"));
  await user.click(sheet.getByRole("checkbox"));
  const write = sheet.getByRole<HTMLButtonElement>("button", { name: "Export…" });
  await user.type(sheet.getByLabelText("Passphrase"), "a horse");
  await user.type(sheet.getByLabelText("Passphrase, again"), "a horse");
  expect(write.disabled, "seven characters are too few").toBe(true);
  await user.type(sheet.getByLabelText("Passphrase"), "!");
  expect(write.disabled, "they differ").toBe(true);
  await user.type(sheet.getByLabelText("Passphrase, again"), "!");
  await user.click(write);
  expect(await sheet.findByText("/home/you/setup.satchel.json")).toBeTruthy();
  await waitFor(() => expect(document.activeElement).toBe(sheet.getByRole("button", { name: "Close" })));
  expect(asked(hub, "write_setup")).toEqual([{ do: "write_setup", path: "/home/you/setup.satchel.json", passphrase: "a horse!" }]);
});

test("nothing is exported where no file was chosen", async () => {
  const { hub, user } = await open();
  await user.click(screen.getByRole("button", { name: "Export the setup" }));
  await user.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Export…" }));
  expect(asked(hub, "write_setup")).toEqual([]);
});

test("an import shows what differs first, and takes only what is ticked", async () => {
  const { hub, user } = await open({ sealed: true });
  hub.chooseNext("/home/you/old.satchel.json");
  await user.click(screen.getByRole("button", { name: "Import a setup" }));
  const sheet = within(await screen.findByRole("dialog"));
  const boxes = await sheet.findAllByRole<HTMLInputElement>("checkbox");
  // Nothing is ticked beforehand, and what each would do stands in its row.
  expect(boxes.map((box) => box.checked)).toEqual([false, false, false, false]);
  expect(sheet.getByRole("button", { name: "Apply 0 parts" }).getAttribute("aria-disabled")).toBe("true");
  expect(sheet.getByText("These rules decide which tools run without a question.").closest("[data-loosening]")).not.toBeNull();
  expect(asked(hub, "take_setup")).toEqual([]);
  await user.click(boxes[1]!);
  await user.click(boxes[2]!);
  expect(sheet.getByRole("button", { name: "Apply 2 parts" })).toBeTruthy();
  await user.type(sheet.getByLabelText("Passphrase"), "horse{Enter}");
  expect(asked(hub, "take_setup"), "Enter is no yes").toEqual([]);
  await user.click(sheet.getByRole("button", { name: "Apply 2 parts" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(asked(hub, "take_setup")).toEqual([
    { do: "take_setup", from: { file: "/home/you/old.satchel.json" }, parts: [{ id: "server:github", seen: "2" }, { id: "profile:web", seen: "3" }], passphrase: "horse" },
  ]);
  // One click takes all of it back.
  await user.click(screen.getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(asked(hub, "undo")).toEqual([{ do: "undo" }]));
  expect(await screen.findByText("The setup is as it was before.")).toBeTruthy();
});

test("a followed folder shows other computers, whose setup is taken or kept out by hand", async () => {
  const { hub, user } = await open();
  hub.chooseNext("/home/you/Sync");
  await user.click(screen.getByRole("button", { name: "Choose…: Follow a folder" }));
  expect(await screen.findByText("4 parts differ")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Review laptop-3f9a" }));
  const sheet = within(await screen.findByRole("dialog"));
  await user.click((await sheet.findAllByRole("checkbox"))[2]!);
  await user.click(await sheet.findByRole("button", { name: "Keep as here" }));
  await waitFor(() => expect(screen.queryByText("4 parts differ")).toBeNull());
  expect(asked(hub, "keep_setup")).toEqual([{ do: "keep_setup", computer: "laptop-3f9a", parts: [{ id: "profile:web", seen: "3" }] }]);
  await user.click(screen.getByRole("button", { name: "Stop: Follow a folder" }));
  expect(asked(hub, "follow_setup").at(-1)).toEqual({ do: "follow_setup", folder: null });
});
