// What counts as added already: the same package or address, under any name.
import { describe, expect, test } from "vitest";

import { server } from "../lib/hub/fake";
import type { Listed, Target } from "../lib/hub/generated";
import { listing } from "../lib/hub/pretend";
import { added } from "./added";

const entry = (target: Target): Listed => ({ ...listing("").entries[0]!, id: "x", target });
const command = (line: string): Target => {
  const [command = "", ...args] = line.split(" ");
  return { kind: "command", command, args, env: {}, cwd: null };
};
const running = (runs: string) => server("mine", { state: "asleep" }, { runs, place: runs.startsWith("http") ? "hosted" : "computer" });

describe("an entry is added already", () => {
  const cases: [Target, string, boolean][] = [
    [command("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 {folder}"), "npx -y @modelcontextprotocol/server-filesystem /tmp", true],
    [command("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 {folder}"), "/usr/local/bin/npx @modelcontextprotocol/server-filesystem@1.0.0 /a \"/b c\"", true],
    [command("npx -y @modelcontextprotocol/server-filesystem"), "npx -y @modelcontextprotocol/server-memory", false],
    [command("uvx mcp-server-time"), "uvx mcp-server-time==1.2", true],
    [command("uvx mcp-server-time"), "uvx --from mcp-server-time[all] start", true],
    [command("uvx mcp-server-time"), "npx mcp-server-time", false],
    [command("docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server"), "podman run --rm ghcr.io/github/github-mcp-server:v1", true],
    [command("satchel toolbox"), "satchel toolbox", true],
    [command("satchel toolbox"), "satchel other", false],
    [{ kind: "url", url: "https://mcp.linear.app/mcp", headers: {} }, "https://MCP.linear.app/mcp/", true],
    [{ kind: "url", url: "https://mcp.linear.app/mcp", headers: {} }, "https://mcp.linear.app/sse", false],
  ];
  test.each(cases)("%j beside %s: %s", (target, runs, expected) => {
    expect(added([running(runs)])(entry(target))).toBe(expected ? "mine" : undefined);
  });

  test("not where only its name is the same", () => {
    expect(added([server("x", { state: "asleep" }, { runs: "npx -y impostor" })])(entry(command("npx -y real")))).toBeUndefined();
  });
});
