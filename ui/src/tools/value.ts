// The value that a form edits: its initial state, which field can show it, and missing parts. Pure. A form never
// changes parts that it does not show.
import { unknown, type Matches, type Pair } from "./patterns";
import { Digits, isFields, isSame, numberIn, type Fields, type Json } from "./json";
import type { Schemas, Shape } from "./schema";

/** Deeper than this nothing is looked at: a schema may lead round in a circle. */
const DEEP = 16;

/** The initial value: only required parts with a known value. */
export function initial(schemas: Schemas, schema: Json, required: boolean, deep = DEEP): Json | undefined {
  const shape = schemas.shape(schema);
  if (!required || deep === 0) return undefined;
  if (shape.preset !== undefined && (shape.preset !== null || shape.nullable)) return shape.preset;
  switch (shape.is) {
    case "choice":
      return shape.options.length === 1 ? shape.options[0]!.value : undefined;
    case "group": {
      const fields: Fields = {};
      for (const field of shape.fields) {
        const value = initial(schemas, field.schema, field.required, deep - 1);
        if (value !== undefined) fields[field.name] = value;
      }
      return fields;
    }
    case "list":
    case "several":
      return [];
    case "text":
    case "number":
    case "toggle":
    case "either":
    case "json":
      return undefined;
  }
}

/** The value of a part that was just added. */
export function blank(schemas: Schemas, schema: Json): Json {
  const known = initial(schemas, schema, true);
  if (known !== undefined) return known;
  const shape = schemas.shape(schema);
  if (shape.is === "toggle") return false;
  if (shape.is === "either") return blank(schemas, shape.cases[0] ?? {});
  return shape.is === "json" ? null : "";
}

/** Can this field show the value? Only its own kind, not what is within. A number that is being written is still a text. */
export function fits(shape: Shape, value: Json): boolean {
  if (value === null && shape.nullable) return true;
  switch (shape.is) {
    case "text":
    case "number":
      return typeof value === "string" || (shape.is === "number" && numberIn(value) !== undefined);
    case "toggle":
      return typeof value === "boolean" || value === "";
    case "choice":
      return value === "" || shape.options.some((option) => isSame(option.value, value));
    case "several":
      return Array.isArray(value) && value.every((one) => shape.options.some((option) => isSame(option.value, one)));
    case "list":
      return Array.isArray(value);
    case "group":
      return isFields(value);
    case "either":
    case "json":
      return true;
  }
}

/** How well a value goes with a schema: 0 for not at all. */
function likeness(schemas: Schemas, schema: Json, value: Json, deep = DEEP): number {
  const shape = schemas.shape(schema);
  if (!fits(shape, value) || deep === 0) return 0;
  if (shape.is === "number" || shape.is === "toggle") return typeof value === "string" ? 0 : 3;
  if (shape.is === "choice") return value === "" ? 0 : 4;
  if (shape.is === "either") return Math.max(...shape.cases.map((one) => likeness(schemas, one, value, deep - 1)));
  if (shape.is === "json") return 1;
  if (shape.is === "list" && Array.isArray(value)) return value.every((one, at) => likeness(schemas, shape.of(at), one, deep - 1) > 0) ? 3 : 1;
  if (shape.is !== "group" || !isFields(value)) return 3;
  let sum = 2;
  for (const field of shape.fields) {
    const inner = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (inner === undefined) sum -= field.required ? 1 : 0;
    else {
      const like = likeness(schemas, field.schema, inner, deep - 1);
      // A word that says which case it is decides.
      if (like === 0 && schemas.shape(field.schema).is === "choice") return 0;
      sum += like;
    }
  }
  return Math.max(sum, 1);
}

/** Which of several cases a value is; the first, where it is none. */
export function caseOf(schemas: Schemas, cases: Json[], value: Json | undefined): number {
  if (value === undefined) return 0;
  const scores = cases.map((one) => likeness(schemas, one, value));
  return Math.max(0, scores.indexOf(Math.max(...scores)));
}

export type Fault = "missing" | "number" | "whole" | "bounds" | "short" | "long" | "pattern" | "misfit";
export const keyOf = (path: readonly (string | number)[]) => JSON.stringify(path);

/** Definite errors, by the path of the field. What `matches` does not know of a pattern is no error here. */
export function faults(schemas: Schemas, schema: Json, value: Json, matches: Matches = unknown): Map<string, Fault> {
  const found = new Map<string, Fault>();
  walk(schemas, schema, value, true, [], found, matches);
  return found;
}

/** The texts that a pattern is about. */
export function patterned(schemas: Schemas, schema: Json, value: Json): Pair[] {
  const pairs: Pair[] = [];
  faults(schemas, schema, value, (pattern, text) => void pairs.push({ pattern, text }));
  return pairs;
}

function walk(schemas: Schemas, schema: Json, value: Json | undefined, required: boolean, path: (string | number)[], found: Map<string, Fault>, matches: Matches): void {
  if (path.length > DEEP) return;
  const shape = schemas.shape(schema);
  const fault = faultOf(shape, value, required, matches);
  if (fault) found.set(keyOf(path), fault);
  if (fault || value === undefined || value === null) return;
  if (shape.is === "either") walk(schemas, shape.cases[caseOf(schemas, shape.cases, value)] ?? {}, value, required, path, found, matches);
  else if (shape.is === "list" && Array.isArray(value)) value.forEach((one, at) => walk(schemas, shape.of(at), one, true, [...path, at], found, matches));
  else if (shape.is === "group" && isFields(value)) {
    for (const field of shape.fields) {
      const inner = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
      walk(schemas, field.schema, inner, field.required, [...path, field.name], found, matches);
    }
    for (const name of others(shape, value)) if (shape.rest !== undefined) walk(schemas, shape.rest, value[name], true, [...path, name], found, matches);
  }
}

function faultOf(shape: Shape, value: Json | undefined, required: boolean, matches: Matches): Fault | undefined {
  const isBlank = value === undefined || (value === "" && shape.is !== "text" && shape.is !== "json" && shape.is !== "either");
  if (isBlank) return required ? "missing" : undefined;
  if (value === null && shape.nullable) return undefined;
  if (!fits(shape, value)) return "misfit";
  if (shape.is === "number") {
    const number = numberIn(value);
    if (number === undefined) return "number";
    if (shape.whole && !isWhole(value)) return "whole";
    return isWithin(number, shape.min, shape.max) ? undefined : "bounds";
  }
  if (shape.is === "text" && typeof value === "string") {
    const length = [...value].length;
    if (length < (shape.min ?? 0)) return "short";
    if (length > (shape.max ?? Infinity)) return "long";
    return shape.pattern && length <= CHECKED && matches(shape.pattern, value) === false ? "pattern" : undefined;
  }
  if ((shape.is === "list" || shape.is === "several") && Array.isArray(value) && shape.is === "list") return isWithin(value.length, shape.min, shape.max) ? undefined : "bounds";
  return undefined;
}

/** The hub checks longer texts. */
const CHECKED = 1_000;
const isWhole = (value: Json) => (value instanceof Digits ? /^-?\d+(\.0+)?$/.test(value.text) || Number.isInteger(Number(value.text)) : Number.isInteger(value));
const isWithin = (size: number, min: number | undefined, max: number | undefined) => size >= (min ?? -Infinity) && size <= (max ?? Infinity);

/** The names in a value that its schema does not. */
export function others(shape: Shape, value: Fields): string[] {
  const known = new Set(shape.is === "group" ? shape.fields.map((field) => field.name) : []);
  return Object.keys(value).filter((name) => !known.has(name));
}

/** A copy with one part changed or removed. Other parts stay unchanged and in order. */
export function changed(value: Json | undefined, step: string | number, part: Json | undefined): Json {
  if (typeof step === "number") {
    const items = Array.isArray(value) ? value : [];
    return part === undefined ? items.filter((_, at) => at !== step) : items.map((one, at) => (at === step ? part : one));
  }
  const fields = isFields(value) ? value : {};
  if (part !== undefined) return { ...fields, [step]: part };
  const { [step]: _, ...rest } = fields;
  return rest;
}
