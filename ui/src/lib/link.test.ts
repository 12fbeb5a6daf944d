import { expect, test } from "vitest";
import { wantedAt } from "./link";

test("a link names a server of a registry, or an entry to be looked at", () => {
  const entry = { command: "npx", args: ["-y", "x"] };
  const text = (name: string) => ({ text: JSON.stringify({ mcpServers: { [name]: entry } }, null, 2) });
  expect(wantedAt("/install?name=io.github.a/b")).toEqual({ name: "io.github.a/b" });
  expect(wantedAt(`/install?name=x&config=${encodeURIComponent(JSON.stringify(entry))}`)).toEqual(text("x"));
  expect(wantedAt(`/install?name=x&config=${btoa(JSON.stringify(entry))}`)).toEqual(text("x"));
  expect(wantedAt(`/install?config=${encodeURIComponent(JSON.stringify({ mcpServers: { a: entry } }))}`)).toEqual(text("a"));
  expect(wantedAt("/install?url=https%3A%2F%2Fa.example%2Fmcp")).toEqual({ text: "https://a.example/mcp" });
  expect(wantedAt("/import?file=%2Ftmp%2Fa+b.mcpb")).toEqual({ file: "/tmp/a b.mcpb" });
});

test("what is no such link names nothing", () => {
  for (const place of ["/install?", "/install?name=plain", "/install?config=7", "/install?config=%7B", "/servers?name=a/b", "/import?x=1"]) expect(wantedAt(place)).toBeUndefined();
});
