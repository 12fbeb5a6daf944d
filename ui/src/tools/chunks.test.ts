// A long text is cut where its lines end, and nothing of it is lost.
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { chunks } from "./chunks";
import Long from "./Long.svelte";

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at} of the log, with some words in it`).join("\n");

test.each([
  ["nothing", ""],
  ["one line", "a"],
  ["a line break at the end", "a\n"],
  ["twenty thousand lines", lines(20_000)],
  ["one line of a megabyte", "x".repeat(1_000_000)],
  ["signs of two units", "😀".repeat(30_000)],
  ["line breaks alone", "\n".repeat(1000)],
])("%s", (_, text) => {
  const all = chunks(text);
  for (const chunk of all) {
    expect(chunk.length).toBeLessThan(16_010);
    expect(chunk.split("\n").length).toBeLessThan(202);
    expect(chunk).not.toMatch(/[\uD800-\uDBFF]$/);
  }
  expect(all.join("").replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
});

test("of a text of a megabyte as much is drawn as is seen, and more by a press", async () => {
  const { container } = render(Long, { text: lines(20_000) });
  expect(container.querySelectorAll("pre")).toHaveLength(1);
  expect(container.textContent!.length).toBeLessThan(20_000);
  await userEvent.click(screen.getByRole("button", { name: "Show more" }));
  expect(container.querySelectorAll("pre")).toHaveLength(2);
});
