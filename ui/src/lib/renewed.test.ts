// A page whose process ended is made anew: where it was, with what was half filled in, and it says so once.
import { render, screen, waitFor } from "@testing-library/svelte";
import { fireEvent } from "@testing-library/dom";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, snapshot } from "./hub/fake";

const hub = (renewed: boolean) => fakeHub(serve(snapshot([])), { renewed });

async function typed(text: string) {
  const { unmount } = render(App, { hub: hub(false) });
  await screen.findByText(/Nothing in the satchel yet/);
  await fireEvent.keyDown(window, { key: "n", ctrlKey: true });
  await fireEvent.input(await screen.findByRole("textbox", { name: /Command, URL/ }), { target: { value: text } });
  await waitFor(() => expect(document.querySelector(".runs")).not.toBeNull());
  return unmount;
}

test("a half-filled form is there again after the page was made anew, and what happened is said until it is closed", async () => {
  const unmount = await typed("npx half-a-server");
  unmount();
  const user = userEvent.setup();
  render(App, { hub: hub(true) });
  expect((await screen.findByRole<HTMLTextAreaElement>("textbox", { name: /Command, URL/ })).value).toBe("npx half-a-server");
  const told = await screen.findByText(/was made anew/);
  await user.click(told.parentElement!.querySelector("button")!);
  await waitFor(() => expect(screen.queryByText(/was made anew/)).toBeNull());
});

test("a page that only opens again says nothing and opens no sheet", async () => {
  const unmount = await typed("npx half-a-server");
  unmount();
  render(App, { hub: hub(false) });
  await screen.findByText(/Nothing in the satchel yet/);
  expect(screen.queryByText(/was made anew/)).toBeNull();
  expect(document.querySelector("dialog")).toBeNull();
});

test("what may be a credential is not kept", async () => {
  const unmount = await typed("npx x --token=abcdefgh");
  unmount();
  render(App, { hub: hub(true) });
  await screen.findByText(/was made anew/);
  expect(document.querySelector("dialog")).toBeNull();
});
