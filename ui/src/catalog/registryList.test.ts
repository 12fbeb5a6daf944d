// The list of registries: endless, narrowed and sorted, and light whatever its length.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, server, snapshot } from "../lib/hub/fake";

async function open(listed: number) {
  history.replaceState(null, "", "#/catalog");
  const hub = fakeHub(serve(snapshot([server("github", { state: "asleep" })])), { listed });
  render(App, { hub });
  const list = await screen.findByRole("region", { name: "From registries" });
  return { hub, list: within(list), user: userEvent.setup() };
}
const searches = (hub: Awaited<ReturnType<typeof open>>["hub"]) => hub.requests.flatMap((request) => (request.do === "search_listed" ? [request] : []));

test("of 10,000 servers only those in view are in the page, and only the pages near them were asked for", async () => {
  const { hub, list } = await open(10_000);
  await list.findByText("server 0");
  const rows = list.getAllByRole("listitem");
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.length).toBeLessThan(40);
  expect(rows[0]!.getAttribute("aria-setsize")).toBe("10000");
  expect(list.getByText("10,000 servers")).toBeTruthy();
  expect(searches(hub).length).toBeLessThan(4);
});

test("the page below is there before it is scrolled to", async () => {
  const { hub, list } = await open(10_000);
  await list.findByText("server 0");
  await waitFor(() => expect(searches(hub).map((search) => search.offset)).toEqual([0, 50]));
});

test("the keyboard leads to the last of 10,000 and back, and one of them is the tab stop", async () => {
  const { list, user } = await open(10_000);
  await list.findByText("server 0");
  const stops = () => list.getAllByRole("link").filter((link) => link.tabIndex === 0);
  const place = () => document.activeElement?.closest("[role=listitem]")?.getAttribute("aria-posinset");
  expect(stops()).toHaveLength(1);
  stops()[0]!.focus();
  await user.keyboard("{ArrowDown}");
  await waitFor(() => expect(place()).toBe("2"));
  await user.keyboard("{End}");
  await waitFor(() => expect(place()).toBe("10000"));
  expect(stops()).toEqual([document.activeElement]);
  await user.keyboard("{Home}");
  await waitFor(() => expect(document.activeElement?.textContent).toBe("server 0"));
  await user.keyboard("{Enter}");
  await waitFor(() => expect(document.activeElement?.getAttribute("aria-current")).toBe("true"));
});

test("a list is narrowed and sorted by the hub, from its beginning", async () => {
  const { hub, list, user } = await open(3);
  await list.findByText("server 0");
  await user.selectOptions(list.getByLabelText("Runs with"), "Python");
  await user.selectOptions(list.getByLabelText("Sorted by"), "Newest");
  await user.click(list.getByLabelText("No key needed"));
  await user.click(screen.getByLabelText("Hosted"));
  await waitFor(() => expect(searches(hub).at(-1)).toMatchObject({ offset: 0, filter: { place: "hosted", language: "python", without_key: true, sort: "newest" } }));
});
