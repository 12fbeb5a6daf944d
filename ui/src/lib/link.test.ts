import { expect, test } from "vitest";
import { isLink, wantedAt } from "./link";

test("a link names a server of a registry, or an entry to be looked at", () => {
  const entry = { command: "npx", args: ["-y", "x"] };
  expect(wantedAt("/install?name=io.github.a/b")).toEqual({ name: "io.github.a/b" });
  const config = `/install?name=x&config=${btoa(JSON.stringify(entry))}`;
  expect(wantedAt(config)).toEqual({ text: `satchel:/${config}` });
  expect(wantedAt("/install?url=https%3A%2F%2Fa.example%2Fmcp")).toEqual({ text: "https://a.example/mcp" });
  expect(wantedAt("/import?file=%2Ftmp%2Fa+b.mcpb")).toEqual({ file: "/tmp/a b.mcpb" });
});

test("what is no such link names nothing", () => {
  for (const place of ["/install?", "/install?name=plain", "/servers?name=a/b", "/import?x=1"]) expect(wantedAt(place)).toBeUndefined();
});

test("links that editors' badges have are known, and what only looks a little like one is not", () => {
  for (const link of [
    "https://cursor.com/en/install-mcp?name=a&config=eyJ1cmwiOiJ4In0=",
    "cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30",
    "vscode:mcp/install?%7B%22name%22%3A%22a%22%7D",
    "[![Install](https://img.example/x.svg)](https://insiders.vscode.dev/redirect/mcp/install?name=a&config=%7B%7D)",
    '<a href="https://lmstudio.ai/install-mcp?name=a&amp;config=e30"><img src="x"></a>',
    "goose://extension?cmd=npx&arg=-y",
  ])
    expect(isLink(link), link).toBe(true);
  for (const text of ["npx -y thing --config=a", "https://mcp.example.com/mcp", '{"mcpServers":{}}', "[mcp_servers.docs]\nurl = \"https://d.example/?config=a\"", ""]) expect(isLink(text), text).toBe(false);
});
