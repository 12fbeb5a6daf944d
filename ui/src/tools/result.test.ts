// What tools answer, as parts that can be shown; and Markdown, of which nothing becomes markup.
import { describe, expect, test } from "vitest";
import { copyAs, quoted } from "./copyAs";
import { print, type Json } from "./json";
import { inline, looksLikeMarkdown, read as readMarkdown } from "./markdown";
import { read } from "./result";

const text = (text: string): Json => ({ content: [{ type: "text", text }] });
const kinds = (result: Json) => read(result).parts.map((part) => (part.is === "text" && part.markdown ? "markdown" : part.is));

describe("results", () => {
  test.each<[string, Json, string[]]>([
    ["words", text("It is noon."), ["text"]],
    ["Markdown", text("# Title\n\nand more"), ["markdown"]],
    ["a list of objects", text('[{"a":1},{"a":2,"b":null}]'), ["table"]],
    ["a list of objects in one field", text('{"rows":[{"a":1}]}'), ["table"]],
    ["other data", text('{"a":[1,2]}'), ["tree"]],
    ["too many columns", text(JSON.stringify([Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`c${at}`, at]))])), ["tree"]],
    ["broken JSON", text('{"a":'), ["text"]],
    ["structure that is there twice", { ...(text('{"a": 1}') as object), structuredContent: { a: 1 } }, ["tree"]],
    ["structure with words of its own", { ...(text("One.") as object), structuredContent: { a: 1 } }, ["text", "tree"]],
    ["a picture", { content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }, ["image"]],
    ["a picture that could have script in it", { content: [{ type: "image", mimeType: "image/svg+xml", data: "AAAA" }] }, ["tree"]],
    ["a picture of a made-up kind", { content: [{ type: "image", mimeType: 'image/png,"><script>', data: "AAAA" }] }, ["tree"]],
    ["a picture that is no Base64", { content: [{ type: "image", mimeType: "image/png", data: "javascript:x" }] }, ["tree"]],
    ["a picture that is too large", { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(12_000_000) }] }, ["tree"]],
    ["a sound", { content: [{ type: "audio", mimeType: "audio/wav", data: "AAAA" }] }, ["audio"]],
    ["a resource", { content: [{ type: "resource_link", uri: "https://example.com/a", name: "a" }, { type: "resource", resource: { uri: "x:y", text: "hello" } }, { type: "resource", resource: { uri: "x:z", blob: "AAAA", mimeType: "application/zip" } }] }, ["file", "text", "file"]],
    ["what nobody knows", { content: [{ type: "video", x: 1 }, 7, null] }, ["tree", "tree", "tree"]],
    ["nothing", { content: [] }, []],
    ["no result at all", [1], ["tree"]],
  ])("%s", (_, result, expected) => expect(kinds(result)).toEqual(expected));

  test("a failure, corrections and all text are told", () => {
    const answer = read({ content: [{ type: "text", text: "a" }, { type: "resource", resource: { text: "b" } }], isError: true, _meta: { "dev.satchel/corrected": ["x: was read as y"] } });
    expect([answer.failed, answer.corrected, answer.text]).toEqual([true, ["x: was read as y"], "a\nb"]);
  });
});

/** A block without its places: what is in it, in order. */
const plain = (value: unknown): string => (Array.isArray(value) ? value.map(plain).join("") : typeof value === "object" && value !== null ? ("text" in value ? String(value.text) : Object.values(value).map((one) => (typeof one === "object" ? plain(one) : "")).join("")) : "");

describe("Markdown", () => {
  test("blocks are told apart", () => {
    const blocks = readMarkdown("# One #\ntwo\nthree\n\n> four\n> - five\n\n1. six\n   seven\n2. eight\n\n```js\n# nine\n```\n| a | b |\n|---|:-:|\n| 1 | 2\\|3 |\n\n---\n\n* x\n  * y\n* z");
    expect(blocks.map((block) => block.is)).toEqual(["heading", "text", "quote", "list", "code", "table", "line", "list"]);
    const last = blocks.at(-1)!;
    expect(last.is === "list" && last.items.map((item) => item.map((block) => block.is))).toEqual([["text", "list"], ["text"]]);
    expect(blocks[5]).toMatchObject({ head: [[{ text: "a" }], [{ text: "b" }]], rows: [[[{ text: "1" }], [{ text: "2|3" }]]] });
    expect(blocks[3]).toMatchObject({ ordered: true, start: 1 });
  });

  test.each([
    ["a **b *c*** `d*` ~~e~~", ["text", "strong", "text", "code", "text", "del"]],
    ["snake_case_name and 2 * 3 * 4", ["text"]],
    ["[a](https://example.com/x_(y)) and https://example.com/z.", ["link", "text", "link", "text"]],
    ["[a](javascript:alert(1)) <b onclick=x>", ["text", "text"]],
    ["![pixel](https://example.com/p.png)", ["link"]],
    ["<script>alert(1)</script> <https://example.com>", ["text", "link", "text"]],
  ])("%s", (written, expected) => expect(inline(written).map((one) => one.is)).toEqual(expected));

  test("a link leads where it says and nowhere else", () => {
    const links = inline("[a](https://example.com/a) [b](data:text/html,x) [c](//example.com) [d](file:///etc/passwd) https://example.com/e,").filter((one) => one.is === "link");
    expect(links.map((one) => one.is === "link" && one.to)).toEqual(["https://example.com/a", "https://example.com/e"]);
  });

  test("what is not closed, and what is nested without end, stays text and is read to its end", () => {
    for (const odd of ["`".repeat(20_000), "**a ".repeat(20_000), "[".repeat(50_000), "[x](".repeat(20_000), "> ".repeat(5_000), "- ".repeat(5_000) + "x", "*_".repeat(20_000), "|".repeat(20_000) + "\n|-|", "#".repeat(50_000), "```\nopen"]) {
      const blocks = readMarkdown(odd);
      expect(blocks.length).toBeGreaterThan(0);
    }
    expect(plain(readMarkdown("**a [b](c"))).toBe("**a [b](c");
  });

  test("plain texts are not taken for it", () => {
    for (const words of ["one\ntwo", "a - b", "2 * 3 * 4 = 24", "see https://example.com", "# ", "{\"a\": 1}"]) expect(looksLikeMarkdown(words)).toBe(false);
    for (const words of ["## Two", "- a\n- b", "**bold**", "```\nx\n```", "[a](https://b.c)", "|a|b|\n|-|-|"]) expect(looksLikeMarkdown(words)).toBe(true);
  });
});

describe("a call for elsewhere", () => {
  const value = { text: "it's \"here\" $(rm)", n: 1 };
  test("as JSON it is what a client sends", () => {
    expect(JSON.parse(copyAs("json", "git hub:do:it", value, ""))).toEqual({ method: "tools/call", params: { name: "do:it", arguments: value } });
  });
  test("curl has a placeholder in the place of the token, and every word is quoted", () => {
    const line = copyAs("curl", "my server:look", value, "http://127.0.0.1:7411/mcp");
    expect(line).toContain("'Authorization: Bearer YOUR_TOKEN'");
    expect(line).toContain("http://127.0.0.1:7411/mcp/server/my%20server ");
    expect(line).toContain("it'\\''s");
    expect(line).toContain("'Mcp-Name: look'");
    expect(copyAs("curl", "a:é", {}, "http://x/mcp")).toContain("'Mcp-Name: =?base64?w6k=?='");
  });
  test("the satchel command is the same for two shells", () => {
    expect(copyAs("satchel", "toolbox:hash_text", { text: "it's" }, "")).toBe(`satchel call toolbox:hash_text '{"text":"it'\\''s"}'`);
    expect(copyAs("satchel", "a b:c", {}, "", true)).toBe("satchel call 'a b:c' '{}'");
    expect([quoted("a;b", false), quoted("", false), quoted("it's", true)]).toEqual(["'a;b'", "''", "'it''s'"]);
    expect(print(value, 0)).toContain("$(rm)");
  });
});
