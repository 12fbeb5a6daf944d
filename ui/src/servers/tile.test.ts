import { expect, test } from "vitest";
import { hue, letters } from "./tile";

test.each([
  ["github", "G"],
  ["sequential-thinking", "ST"],
  ["context7", "C7"],
  ["mcp-server-git", "G"],
  ["My Hub", "MH"],
  ["mcp", "M"],
  ["日本語", "日"],
])("%s shows %s", (name, shown) => expect(letters(name)).toBe(shown));

test("a name always has the same hue", () => {
  expect(hue("github")).toBe(hue("github"));
  expect(hue("github")).not.toBe(hue("gitlab"));
});
