// JSON as a person and a server wrote it: a number whose digits JavaScript would lose keeps them. Pure.

/** A number that is not the same after JavaScript has read and written it, such as `1.10` or `12345678901234567890`. */
export class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Json = null | boolean | number | string | Digits | Json[] | Fields;
export type Fields = { [name: string]: Json };

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Prefix of digits while they are transported as text; cannot occur in input. */
const fresh = () => `digits ${Math.random()} `;

/** Throws a `SyntaxError` where it is no JSON. */
export function parse(text: string): Json {
  JSON.parse(text);
  const mark = fresh();
  const marked = text.replace(token, (token) => (token[0] === '"' || String(Number(token)) === token ? token : `"${mark}${token}"`));
  return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? new Digits(value.slice(mark.length)) : value)) as Json;
}

export function print(value: Json, indent = 2): string {
  const mark = fresh();
  const text = JSON.stringify(value, (_, one: unknown) => (one instanceof Digits ? mark + one.text : one), indent);
  return text.replace(new RegExp(`"${mark.replace(".", "\\.")}([^"]*)"`, "g"), "$1");
}

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Digits);

export const isSame = (a: Json | undefined, b: Json | undefined) => a === b || (a !== undefined && b !== undefined && print(a, 0) === print(b, 0));

/** A number, where it is one. */
export const numberIn = (value: Json | undefined) => (typeof value === "number" ? value : value instanceof Digits ? Number(value.text) : undefined);

/** The text of a number field. */
export function fromDigits(text: string): number | Digits | undefined {
  const written = text.trim();
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(written)) return undefined;
  return String(Number(written)) === written ? Number(written) : new Digits(written);
}

type Path = readonly (string | number)[];

export function at(value: Json | undefined, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((inner, step) => {
    if (Array.isArray(inner)) return inner[step as number];
    return isFields(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  }, value);
}
