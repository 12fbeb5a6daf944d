// Forms as they are drawn: every schema gets one, and what stands in it comes back as it was.
import { describe, expect, test } from "vitest";

import { fixtures } from "./fixtures";
import type { Fields } from "./json";
import { exampleOf, roundTrip } from "./roundTrip";
import { Schemas } from "./schema";

const object = (properties: Fields, more: Fields = {}): Fields => ({ type: "object", properties, ...more });
const draft = { $schema: "https://json-schema.org/draft/2020-12/schema" };

/** Parameters of tools of many kinds, each with arguments as a model would write them. */
const tools: [name: string, schema: Fields, example: Fields][] = [
  [
    "a search with filters",
    object({ query: { type: "string", minLength: 1 }, state: { type: "string", enum: ["open", "closed", "all"], default: "open" }, labels: { type: "array", items: { type: "string", enum: ["bug", "docs"] }, uniqueItems: true }, page: { type: "integer", minimum: 1, default: 1 }, per_page: { type: "integer", minimum: 1, maximum: 100 }, archived: { type: "boolean", default: false } }, { required: ["query"], additionalProperties: false }),
    { query: "is:open label:bug", state: "all", labels: ["docs"], page: 2, per_page: 100, archived: false },
  ],
  [
    "a file edit",
    object({ path: { type: "string" }, edits: { type: "array", minItems: 1, items: object({ oldText: { type: "string" }, newText: { type: "string" } }, { required: ["oldText", "newText"], additionalProperties: false }) }, dryRun: { type: "boolean", default: true } }, { required: ["path", "edits"], ...draft }),
    { path: "/srv/a b.txt", edits: [{ oldText: "one\ntwo", newText: "1\n2" }, { oldText: "x", newText: "y" }], dryRun: true },
  ],
  [
    "a page of blocks, by references",
    object({ parent: { $ref: "#/$defs/parent" }, children: { type: "array", items: { $ref: "#/$defs/block" }, maxItems: 100 } }, { required: ["parent"], ...draft, $defs: { parent: { oneOf: [object({ type: { const: "page" }, page_id: { type: "string", format: "uuid" } }, { required: ["type", "page_id"] }), object({ type: { const: "database" }, database_id: { type: "string", format: "uuid" } }, { required: ["type", "database_id"] })] }, block: object({ kind: { enum: ["paragraph", "to_do"] }, text: { type: "string", maxLength: 2000 }, checked: { type: "boolean" }, children: { type: "array", items: { $ref: "#/$defs/block" } } }, { required: ["kind", "text"] }) } }),
    { parent: { type: "database", database_id: "123e4567-e89b-12d3-a456-426614174000" }, children: [{ kind: "to_do", text: "Pack", checked: true, children: [{ kind: "paragraph", text: "the satchel" }] }] },
  ],
  [
    "a message, to one or many",
    object({ to: { anyOf: [{ type: "string", format: "email" }, { type: "array", items: { type: "string", format: "email" }, minItems: 1 }] }, subject: { type: ["string", "null"] }, send_at: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }], default: null }, priority: { oneOf: [{ const: 1, title: "Low" }, { const: 5, title: "High" }] } }, { required: ["to"] }),
    { to: ["a@example.com", "b@example.com"], subject: null, send_at: "2026-07-28T10:30:00Z", priority: 5 },
  ],
  [
    "a request over HTTP",
    object({ url: { type: "string", format: "uri" }, method: { enum: ["GET", "POST"], default: "GET" }, headers: { type: "object", additionalProperties: { type: "string" }, propertyNames: { pattern: "^[A-Za-z-]+$" } }, body: {}, timeout: { type: "number", exclusiveMinimum: 0, maximum: 60.5 } }, { required: ["url"], dependentRequired: { body: ["method"] }, ...draft }),
    { url: "https://example.com/?q=%20", method: "POST", headers: { Accept: "*/*", "X-Trace": "1" }, body: { a: [1, 2.5, null, "x"] }, timeout: 0.25 },
  ],
  [
    "a query with rows of several types",
    object({ sql: { type: "string" }, params: { type: "array", items: { type: ["string", "number", "boolean", "null"] } }, range: { type: "array", prefixItems: [{ type: "integer" }, { type: "integer" }], items: false, minItems: 2 } }, { required: ["sql"], ...draft }),
    { sql: "SELECT *\nFROM t\nWHERE a = ?", params: ["a", 1.5, false, null], range: [0, 10] },
  ],
  [
    "a chart, by its kind",
    object({ chart: { oneOf: [object({ kind: { const: "line" }, points: { type: "array", items: object({ x: { type: "number" }, y: { type: "number" } }, { required: ["x", "y"] }) } }, { required: ["kind", "points"] }), object({ kind: { const: "pie" }, parts: { type: "object", additionalProperties: { type: "number", minimum: 0 } } }, { required: ["kind", "parts"] })] }, title: { type: "string", deprecated: true } }, { required: ["chart"], unevaluatedProperties: false, ...draft }),
    { chart: { kind: "pie", parts: { a: 1, b: 2.25 } }, title: "Shares" },
  ],
  [
    "conditions between parameters",
    object({ mode: { enum: ["all", "some"] }, ids: { type: "array", items: { type: "integer" }, contains: { minimum: 1 }, minContains: 1 } }, { required: ["mode"], if: { properties: { mode: { const: "some" } } }, then: { required: ["ids"] }, else: { not: { required: ["ids"] } }, ...draft }),
    { mode: "some", ids: [3, 1] },
  ],
  [
    "parts put together",
    { ...draft, allOf: [object({ id: { type: "string" } }, { required: ["id"] }), { $ref: "#/$defs/paged" }], $defs: { paged: object({ cursor: { type: "string" }, limit: { type: "integer", default: 20 } }) }, type: "object" },
    { id: "a", cursor: "next==", limit: 20 },
  ],
  [
    "numbers that keep their digits, and what nobody described",
    object({ amount: { type: "number" }, count: { type: "integer" } }, { patternProperties: { "^x-": { type: "string" } } }),
    { amount: 1e21, count: 0, "x-a": "b" },
  ],
  ["nothing", { type: "object", additionalProperties: false }, {}],
];

describe("a form", () => {
  test.each(tools)("of %s gives back what it was given", async (_, schema, example) => {
    expect((await roundTrip(schema, example)).wrong).toEqual([]);
  });

  test.each(fixtures)("of $name gives back what it was given", async ({ schema, sample }) => {
    for (const value of sample) expect((await roundTrip(schema, value)).wrong).toEqual([]);
  });

  test.each([...tools.map(([name, schema]) => [name, schema] as const), ...fixtures.map(({ name, schema }) => [name, schema] as const)])("of %s shows every part that its schema has", async (_, schema) => {
    const value = exampleOf(new Schemas(schema), schema);
    const { controls, wrong } = await roundTrip(schema, value);
    expect(wrong).toEqual([]);
    expect(controls).toBeGreaterThan(0);
  });
});
