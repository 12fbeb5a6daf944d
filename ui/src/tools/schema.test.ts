// Schemas as servers write them: which field each part becomes, and what comes back.
import { describe, expect, test } from "vitest";
import { at, fromDigits, isSame, parse, print, type Fields, type Json } from "./json";
import { fixtures } from "./fixtures";
import { Schemas, shown } from "./schema";
import { words } from "../words";
import { blank, caseOf, changed, faults, patterned, fits, initial, keyOf } from "./value";

const shapeOf = (schema: Json) => new Schemas(schema).shape(schema);
/** The kinds of the fields of an object, by name. */
function kinds(schema: Fields): Record<string, string> {
  const schemas = new Schemas(schema);
  const shape = schemas.shape(schema);
  return shape.is === "group" ? Object.fromEntries(shape.fields.map((field) => [field.name, schemas.shape(field.schema).is])) : {};
}

describe("JSON", () => {
  test.each([
    '{"a":1.10,"b":12345678901234567890123,"c":-0,"d":1e5,"e":[1,2.5,"1.10"]}',
    '{"__proto__":{"x":1},"constructor":1.0,"2":"two","1":"one"}',
    '"digits 0.5 \\"1.10\\" \\\\"',
    "[]",
    "null",
  ])("keeps every digit of %s", (text) => {
    expect(JSON.parse(print(parse(text), 0))).toEqual(JSON.parse(text));
    for (const digits of text.match(/(?<!")\b\d+\.?\d*(e\d+)?\b(?!")/g) ?? []) expect(print(parse(text), 0)).toContain(digits);
  });
  test.each(["", "{", '{"a":01}', "{'a':1}", "1 2", '{"a":1,}'])("refuses %s", (text) => expect(() => parse(text)).toThrow(SyntaxError));
  test("numbers are read from what is written", () => {
    expect([fromDigits("5"), fromDigits(" -2.5 "), fromDigits("five"), fromDigits("1."), fromDigits("007")]).toEqual([5, -2.5, undefined, undefined, undefined]);
    expect(print(fromDigits("1.10")!, 0)).toBe("1.10");
  });
});

describe("schemas", () => {
  test.each(fixtures)("$name", ({ schema, fields, begins }) => {
    expect(kinds(schema)).toEqual(fields);
    expect(initial(new Schemas(schema), schema, true)).toEqual(begins ?? {});
  });

  test.each(fixtures)("what a field of $name shows comes back as it was", ({ schema, sample }) => {
    const schemas = new Schemas(schema);
    for (const value of sample) {
      // Every part is taken and set again, as a form does it, beside something that no schema knows.
      let again: Json = { unknown: [1, { deep: null }], ...value };
      for (const [name, part] of Object.entries(value)) again = changed(changed(again, name, "else"), name, part);
      expect(isSame(parse(print(again)), { unknown: [1, { deep: null }], ...value })).toBe(true);
      expect([...faults(schemas, schema, value)]).toEqual([]);
    }
  });

  test.each(fixtures)("what is added to $name can be shown", ({ schema }) => {
    const schemas = new Schemas(schema);
    const shape = schemas.shape(schema);
    for (const field of shape.is === "group" ? shape.fields : []) expect(fits(schemas.shape(field.schema), blank(schemas, field.schema))).toBe(true);
  });

  test("a schema that leads round in a circle ends", () => {
    const tree: Fields = { $ref: "#/$defs/node", $defs: { node: { type: "object", required: ["child"], properties: { child: { $ref: "#/$defs/node" }, name: { type: "string" } } }, loop: { $ref: "#/$defs/loop" } } };
    const schemas = new Schemas(tree);
    expect(kinds(tree)).toEqual({ child: "group", name: "text" });
    expect(initial(schemas, tree, true)).toBeDefined();
    expect(schemas.shape({ $ref: "#/$defs/loop" }).is).toBe("json");
    expect(schemas.shape({ $ref: "https://example.com/other.json" }).is).toBe("json");
    let deep: Json = {};
    for (let level = 0; level < 200; level++) deep = { child: deep };
    expect(faults(schemas, tree, deep).size).toBeLessThan(20);
  });

  test("what is wrong is found, each at its place", () => {
    const schema = parse(`{"type":"object","required":["a","b","n"],"properties":{"a":{"type":"string","minLength":2},"b":{"type":"integer","maximum":9},
      "n":{"type":"object","required":["x"],"properties":{"x":{"type":"boolean"}}},"l":{"type":"array","minItems":1,"items":{"type":"number"}},"c":{"enum":["p","q"]}}}`) as Fields;
    const found = (value: Json) => Object.fromEntries([...faults(new Schemas(schema), schema, value)].map(([key, fault]) => [(JSON.parse(key) as string[]).join("."), fault]));
    expect(found({})).toEqual({ a: "missing", b: "missing", n: "missing" });
    expect(found({ a: "x", b: 1.5, n: {}, l: [], c: "r" })).toEqual({ a: "short", b: "whole", "n.x": "missing", l: "bounds", c: "misfit" });
    expect(found({ a: "xy", b: 10, n: { x: "yes" }, l: ["one", 2] })).toEqual({ b: "bounds", "n.x": "misfit", "l.0": "number" });
    expect(found({ a: 5, b: parse("9007199254740993"), n: [] })).toEqual({ a: "misfit", b: "bounds", n: "misfit" });
    expect(found({ a: "xy", b: "nine", n: { x: true } })).toEqual({ b: "number" });
  });

  test("a text is checked against its length and its pattern, where that is one", () => {
    const fault = (schema: Fields, value: Json) => [...faults(new Schemas(schema), schema, value).values()][0];
    expect(fault({ type: "string", maxLength: 2 }, "abc")).toBe("long");
    const code = { type: "string", pattern: "^\\p{Lu}{2}-\\d+$" };
    const by = (schema: Fields, value: Json) => [...faults(new Schemas(schema), schema, value, (pattern, text) => new RegExp(pattern, "u").test(text)).values()][0];
    expect([by(code, "ÄB-12"), by(code, "äb-12"), fault(code, "äb-12")]).toEqual([undefined, "pattern", undefined]);
    expect(patterned(new Schemas(code), code, "äb-12")).toEqual([{ pattern: code.pattern, text: "äb-12" }]);
    expect(shapeOf(code)).toMatchObject({ pattern: code.pattern });
    for (const pattern of ["(", "^[\\w-\\d]$"]) {
      expect(fault({ type: "string", pattern }, "x")).toBeUndefined();
      expect(shapeOf({ type: "string", pattern })).toMatchObject({ pattern: "" });
    }
    // These would run for years, and run here in no case.
    for (const pattern of ["^(a+)+$", `^${".*".repeat(12)}#$`, `^${"a*".repeat(30)}$`]) expect(fault({ type: "string", pattern }, `${"a".repeat(60)}!`)).toBeUndefined();
  });

  test("the bounds of a text are told as they are", () => {
    const { length, faults } = words.trying;
    expect([length(undefined, 100), length(0, 100), length(3, undefined), length(2, 4), length(undefined, undefined)]).toEqual(["at most 100 characters", "at most 100 characters", "at least 3 characters", "2 to 4 characters", ""]);
    expect(faults.short(3)).toBe("At least 3 characters.");
  });

  test("the case that a value is of is found by what it says", () => {
    const cases: Json[] = [
      { type: "object", properties: { kind: { const: "circle" }, r: { type: "number" } }, required: ["kind", "r"] },
      { type: "object", properties: { kind: { const: "box" }, w: { type: "number" } }, required: ["kind", "w"] },
      { type: "string" },
    ];
    const schemas = new Schemas({ oneOf: cases });
    const which = (value: Json) => caseOf(schemas, cases, value);
    expect([which({ kind: "box" }), which({ kind: "circle", r: 1 }), which("x"), which(5)]).toEqual([1, 0, 2, 0]);
  });

  test("titles, examples and what may be nothing are told", () => {
    const shape = shapeOf({ type: ["string", "null"], title: "Name", description: "Whose", default: "Ada", examples: ["Eve"], deprecated: true });
    expect(shape).toMatchObject({ is: "text", title: "Name", text: "Whose", preset: "Ada", examples: ["Eve"], nullable: true, deprecated: true });
    expect(fits(shape, null)).toBe(true);
  });

  test("a number that JavaScript cannot hold is shown and sent with every digit", () => {
    const schema = parse('{"type":"object","required":["id"],"properties":{"id":{"type":"integer","default":9007199254740993},"any":{"enum":[9007199254740993,[9007199254740995,"9"]]}}}');
    const schemas = new Schemas(schema);
    const id = schemas.shape(at(schema, ["properties", "id"])!);
    expect(shown(id.preset!)).toBe("9007199254740993");
    expect(fits(id, id.preset!)).toBe(true);
    expect(print(initial(schemas, schema, true)!, 0)).toBe('{"id":9007199254740993}');
    const any = schemas.shape(at(schema, ["properties", "any"])!);
    expect(any).toMatchObject({ is: "choice", options: [{ title: "9007199254740993" }, { title: '[9007199254740995,"9"]' }] });
  });

  test("a part that is taken out leaves the others in their places", () => {
    expect(Object.keys(changed({ a: 1, b: 2, c: 3 }, "b", 5) as Fields)).toEqual(["a", "b", "c"]);
    expect(changed({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
    expect([changed([1, 2, 3], 1, undefined), changed([1, 2, 3], 0, 9)]).toEqual([[1, 3], [9, 2, 3]]);
    expect(at(changed(undefined, "__proto__", 1), ["__proto__"])).toBe(1);
    expect(keyOf(["a", 0])).toBe('["a",0]');
  });
});
