import { expect, test } from "vitest";
import { inPath, ownName, parts, pathOf } from "./path";

test("a path leads back to its server and tool, whatever the server is called", () => {
  for (const name of ["git", "@scope/pkg", "a:b", "a|b", "100%", "a%3ab", "%%3A:"]) {
    expect(parts(pathOf(name, "x:y"))).toEqual([name, "x:y"]);
    expect(inPath(name)).not.toContain(":");
  }
  expect(inPath("%%3A:")).toBe("%%253A%3A");
});

test("a call that did not reach its server is named like one that did", () => {
  for (const server of ["git", "a:b"]) {
    expect(ownName({ server, tool: pathOf(server, "push") })).toBe("push");
    expect(ownName({ server, tool: "push" })).toBe("push");
  }
  expect(ownName({ server: "", tool: "discover_mcp_tools" })).toBe("discover_mcp_tools");
  expect(ownName({ server: "git", tool: "notes:push" })).toBe("notes:push");
});
