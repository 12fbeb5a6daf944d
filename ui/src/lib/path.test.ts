import { expect, test } from "vitest";
import { inPath, parts, pathOf } from "./path";

test("a path leads back to its server and tool, whatever the server is called", () => {
  for (const name of ["git", "@scope/pkg", "a:b", "a|b", "100%", "a%3ab", "%%3A:"]) {
    expect(parts(pathOf(name, "x:y"))).toEqual([name, "x:y"]);
    expect(inPath(name)).not.toContain(":");
  }
  expect(inPath("%%3A:")).toBe("%%253A%3A");
});
