// Schemas in the ways in which servers write them, each with the fields it becomes and values that fit it. For tests.
import type { Fields, Json } from "./json";

export interface Fixture {
  name: string;
  schema: Fields;
  /** The kind of each field. */
  fields: Record<string, string>;
  /** The initial value of a form, if it has one. */
  begins?: Json;
  sample: Fields[];
}

const object = (properties: Fields, more: Fields = {}): Fields => ({ type: "object", properties, ...more });

export const fixtures: Fixture[] = [
  { name: "nothing at all", schema: { type: "object" }, fields: {}, sample: [{}, { free: 1 }] },
  { name: "no parameters", schema: object({}), fields: {}, sample: [{}] },
  { name: "plain values", schema: object({ text: { type: "string" }, size: { type: "integer" }, ratio: { type: "number" }, on: { type: "boolean" } }), fields: { text: "text", size: "number", ratio: "number", on: "toggle" }, sample: [{ text: "", size: -3, ratio: 0.5, on: false }] },
  { name: "what must be there has its default", schema: object({ a: { type: "string", default: "x" }, b: { type: "string", default: "y" } }, { required: ["a"] }), fields: { a: "text", b: "text" }, begins: { a: "x" }, sample: [{ a: "", b: "" }] },
  { name: "an enum of words", schema: object({ unit: { type: "string", enum: ["c", "f"] } }), fields: { unit: "choice" }, sample: [{ unit: "c" }] },
  { name: "an enum of numbers and others", schema: object({ one: { enum: [1, "1", true, { a: 1 }] } }), fields: { one: "choice" }, sample: [{ one: 1 }, { one: "1" }, { one: { a: 1 } }] },
  { name: "an enum with nothing in it", schema: object({ one: { enum: ["a", null] } }), fields: { one: "choice" }, sample: [{ one: null }, { one: "a" }] },
  { name: "a constant that must be there", schema: object({ version: { const: 2 } }, { required: ["version"] }), fields: { version: "choice" }, begins: { version: 2 }, sample: [{ version: 2 }] },
  { name: "titled choices", schema: object({ level: { oneOf: [{ const: 1, title: "Low" }, { const: 2, title: "High" }] } }), fields: { level: "choice" }, sample: [{ level: 2 }] },
  { name: "several of a few", schema: object({ tags: { type: "array", items: { enum: ["a", "b", "c"] }, uniqueItems: true } }), fields: { tags: "several" }, sample: [{ tags: [] }, { tags: ["c", "a"] }] },
  { name: "a list of texts", schema: object({ names: { type: "array", items: { type: "string" } } }, { required: ["names"] }), fields: { names: "list" }, begins: { names: [] }, sample: [{ names: ["a", ""] }] },
  { name: "a list of anything", schema: object({ items: { type: "array" } }), fields: { items: "list" }, sample: [{ items: [1, "a", { b: [] }] }] },
  { name: "a tuple", schema: object({ point: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }], items: false } }), fields: { point: "list" }, sample: [{ point: [1, "a"] }] },
  { name: "a tuple of the older kind", schema: object({ point: { type: "array", items: [{ type: "number" }, { type: "boolean" }] } }), fields: { point: "list" }, sample: [{ point: [1, true] }] },
  { name: "an object within", schema: object({ place: object({ lat: { type: "number" }, lon: { type: "number" } }, { required: ["lat"] }) }), fields: { place: "group" }, sample: [{ place: { lat: 1 } }] },
  { name: "objects that must be there, with a default deep within", schema: object({ a: object({ b: object({ c: { type: "string", default: "z" } }, { required: ["c"] }) }, { required: ["b"] }) }, { required: ["a"] }), fields: { a: "group" }, begins: { a: { b: { c: "z" } } }, sample: [{ a: { b: { c: "y" } } }] },
  { name: "a list of objects", schema: object({ rows: { type: "array", items: object({ id: { type: "integer" }, name: { type: "string" } }, { required: ["id"] }) } }), fields: { rows: "list" }, sample: [{ rows: [{ id: 1 }, { id: 2, name: "b" }] }] },
  { name: "a map", schema: object({ env: { type: "object", additionalProperties: { type: "string" } } }), fields: { env: "group" }, sample: [{ env: { A: "1", "b c": "" } }] },
  { name: "a free object", schema: object({ filter: { type: "object" } }), fields: { filter: "group" }, sample: [{ filter: { any: [1] } }] },
  { name: "names by a pattern", schema: object({ headers: { type: "object", patternProperties: { "^x-": { type: "string" } } } }), fields: { headers: "group" }, sample: [{ headers: { "x-a": "1" } }] },
  { name: "references", schema: object({ from: { $ref: "#/$defs/place" }, to: { $ref: "#/definitions/place" } }, { $defs: { place: { type: "string", format: "uri" } }, definitions: { place: { type: "integer" } } }), fields: { from: "text", to: "number" }, sample: [{ from: "https://example.com", to: 1 }] },
  { name: "a reference with words of its own", schema: object({ from: { $ref: "#/$defs/a~1b", description: "Where from" } }, { $defs: { "a/b": { type: "boolean", description: "Any" } } }), fields: { from: "toggle" }, sample: [{ from: true }] },
  { name: "everything at once", schema: object({ both: { allOf: [{ type: "object", properties: { a: { type: "string" } } }, { properties: { b: { type: "integer" } }, required: ["b"] }] } }), fields: { both: "group" }, sample: [{ both: { a: "x", b: 1 } }] },
  { name: "a value or nothing, as an older generator writes it", schema: object({ limit: { anyOf: [{ type: "integer" }, { type: "null" }], default: null } }), fields: { limit: "number" }, sample: [{ limit: null }, { limit: 5 }] },
  { name: "a value or nothing, by type", schema: object({ name: { type: ["string", "null"] }, old: { type: "string", nullable: true } }), fields: { name: "text", old: "text" }, sample: [{ name: null, old: null }] },
  { name: "two types", schema: object({ id: { type: ["string", "integer"] } }), fields: { id: "either" }, sample: [{ id: "a" }, { id: 7 }] },
  { name: "one or many", schema: object({ path: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] } }), fields: { path: "either" }, sample: [{ path: "a" }, { path: ["a", "b"] }] },
  { name: "cases of objects", schema: object({ shape: { oneOf: [object({ kind: { const: "circle" }, r: { type: "number" } }, { required: ["kind", "r"] }), object({ kind: { const: "box" }, w: { type: "number" } }, { required: ["kind", "w"] })] } }), fields: { shape: "either" }, sample: [{ shape: { kind: "box", w: 2 } }, { shape: { kind: "circle", r: 1 } }] },
  { name: "one of two parameters", schema: object({ id: { type: "string" }, name: { type: "string" } }, { anyOf: [{ required: ["id"] }, { required: ["name"] }] }), fields: { id: "text", name: "text" }, sample: [{ id: "a" }, { name: "b" }] },
  { name: "formats", schema: object({ at: { type: "string", format: "date-time" }, mail: { type: "string", format: "email" }, word: { type: "string", format: "password" } }), fields: { at: "text", mail: "text", word: "text" }, sample: [{ at: "2026-07-28T10:30:00Z", mail: "a@example.com", word: "x" }] },
  { name: "no types", schema: { properties: { a: { minLength: 1 }, b: { items: {} }, c: { properties: {} }, d: { maximum: 3 }, e: { description: "Anything" }, f: true } }, fields: { a: "text", b: "list", c: "group", d: "number", e: "json", f: "json" }, sample: [{ a: "x", b: [1], c: {}, d: 2, e: [{}], f: null }] },
  { name: "something required that nobody describes", schema: object({}, { required: ["secret"] }), fields: { secret: "json" }, sample: [{ secret: 1 }] },
  { name: "strange names", schema: object({ __proto__x: { type: "string" }, constructor: { type: "integer" }, "a.b/c~d": { type: "boolean" } }), fields: { __proto__x: "text", constructor: "number", "a.b/c~d": "toggle" }, sample: [{ constructor: 1, "a.b/c~d": true }] },
  { name: "nonsense", schema: { type: 5, properties: { a: 7, b: { type: "colour" }, c: { enum: [] } } } as Fields, fields: { a: "json", b: "json", c: "json" }, sample: [{ a: 1, b: "red", c: null }] },
];
