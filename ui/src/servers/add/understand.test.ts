import { describe, expect, test } from "vitest";
import { parse } from "smol-toml";
import { isToml, understand, words, type Found } from "./understand";

function found(text: string): Found[] {
  const understood = understand(text);
  if ("problem" in understood) throw new Error(understood.problem.kind);
  return understood.found;
}
const problem = (text: string) => {
  const understood = understand(text);
  return "problem" in understood ? understood.problem.kind : undefined;
};

describe("a command line", () => {
  test.each([
    ["npx -y @modelcontextprotocol/server-everything", "everything"],
    ["npx @playwright/mcp@latest", "playwright"],
    ["uvx mcp-server-git --repository .", "git"],
    ["uvx --from git+https://example.org/x mcp-server-time", "time"],
    ["docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server:1.2", "github"],
    ["/opt/tools/my-thing --stdio", "my-thing"],
    ["python3 -m notes_server", "notes"],
    ["node build/index.js", "index"],
    ["satchel toolbox", "satchel"],
  ])("%s is called %s", (line, name) => expect(found(line)[0]!.name).toBe(name));

  test("keeps quoted arguments whole and reads leading variables", () => {
    expect(found(`API_KEY=a=b $HOME/x 'two words' "a \\"b\\"" c\\ d`.replace("$HOME/x", "x"))[0]!.target).toEqual({
      kind: "command",
      command: "x",
      args: ["two words", 'a "b"', "c d"],
      env: { API_KEY: "a=b" },
      cwd: null,
    });
  });

  test("may be copied with its prompt and over several lines", () => {
    expect(found("$ uvx mcp-server-git \\\n  --repository .")[0]!.target).toMatchObject({
      command: "uvx",
      args: ["mcp-server-git", "--repository", "."],
    });
  });

  test("keeps a Windows path as it is", () => {
    expect(words(String.raw`C:\tools\x.exe --y`)).toEqual([String.raw`C:\tools\x.exe`, "--y"]);
  });

  test("with an open quote is not guessed at", () => expect(problem(`npx "a`)).toBe("open-quote"));
});

describe("an address", () => {
  test.each([
    ["https://mcp.sentry.dev/mcp", "sentry"],
    ["https://mcp.context7.com/mcp", "context7"],
    ["https://api.githubcopilot.com/mcp/", "githubcopilot"],
    ["http://localhost:3000/mcp", "localhost"],
    ["http://127.0.0.1:3000/mcp", "127.0.0.1"],
  ])("%s is called %s", (url, name) => {
    expect(found(url)).toEqual([{ name, target: { kind: "url", url, headers: {} } }]);
  });
  test("that cannot be one is refused", () => expect(problem("https://a b")).toBe("bad-url"));
});

describe("a block of JSON", () => {
  const github = { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_1" } };
  const target = { kind: "command", command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_1" }, cwd: null };

  test.each([
    ["as every README has it", JSON.stringify({ mcpServers: { github } })],
    ["as VS Code has it", JSON.stringify({ servers: { github } })],
    ["inside VS Code's settings", JSON.stringify({ mcp: { servers: { github } } })],
    ["without the outer block", JSON.stringify({ github })],
    ["without the outer braces", JSON.stringify({ github }).slice(1, -1)],
    ["with comments and trailing commas", `{ // mine\n "mcpServers": { "github": ${JSON.stringify(github)}, }, }`],
  ])("%s", (_, text) => expect(found(text)).toEqual([{ name: "github", target }]));

  test("of one entry gets a name", () => expect(found(JSON.stringify(github))[0]!.name).toBe("gh"));

  test("names every server in it", () => {
    const text = JSON.stringify({ mcpServers: { a: github, b: { url: "https://b.example/mcp", headers: { A: "1" } } } });
    expect(found(text).map((one) => [one.name, one.target.kind])).toEqual([["a", "command"], ["b", "url"]]);
  });

  test("with // inside a string keeps it", () => {
    expect(found(`{"mcpServers":{"b":{"url":"https://b.example/mcp",},}}`)[0]!.target).toMatchObject({ url: "https://b.example/mcp" });
  });

  test("that is broken or foreign says so", () => {
    expect(problem(`{"mcpServers": {`)).toBe("not-json");
    expect(problem(`{"editor": {"fontSize": 12}}`)).toBe("no-servers");
    expect(problem(JSON.stringify({ mcpServers: { a: github, b: {} } }))).toBe("bad-entry");
    expect(problem("  ")).toBe("empty");
  });
});

test("a table as Codex has it", () => {
  const text = '[mcp_servers.docs]\nurl = "https://docs.example.com/mcp"\nhttp_headers = { Authorization = "Bearer x" }\n\n[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files"]\nenv = { ROOT = "/" }\n';
  expect(isToml(text)).toBe(true);
  expect(understand(text)).toEqual({ problem: { kind: "empty" } });
  expect(understand(text, { value: parse(text) })).toEqual({
    found: [
      { name: "docs", target: { kind: "url", url: "https://docs.example.com/mcp", headers: { Authorization: "Bearer x" } } },
      { name: "files", target: { kind: "command", command: "npx", args: ["-y", "files"], env: { ROOT: "/" }, cwd: null } },
    ],
  });
});

test("TOML that is not complete says where", () => {
  const text = '[mcp_servers.docs]\nurl = "https://';
  expect(understand(text, { why: "line 2, column 7: unclosed" })).toEqual({ problem: { kind: "not-toml", why: "line 2, column 7: unclosed" } });
});
