// What a JSON Schema asks a person for: which kind of field each part of it is. Pure. Whether a value really fits is the
// hub's to say, which checks every call; what no field can show is written as JSON.
import { isFields, isSame, numberIn, print, type Fields, type Json } from "./json";

export interface Option {
  value: Json;
  title: string;
}

export interface Field {
  name: string;
  schema: Json;
  required: boolean;
}

interface About {
  title: string;
  text: string;
  preset: Json | undefined;
  examples: Json[];
  /** `null` is an answer, too. */
  nullable: boolean;
  deprecated: boolean;
}

export type Kind =
  /** `pattern` is what is to be read of it, where it is an expression. It runs in a worker alone. */
  | { is: "text"; format: string; min: number | undefined; max: number | undefined; pattern: string; long: boolean; secret: boolean }
  | { is: "number"; whole: boolean; min: number | undefined; max: number | undefined }
  | { is: "toggle" }
  | { is: "choice"; options: Option[] }
  | { is: "several"; options: Option[] }
  | { is: "list"; of: (at: number) => Json; min: number; max: number | undefined }
  /** `rest` is what other names may have; `undefined` where nothing says that there are some. */
  | { is: "group"; fields: Field[]; rest: Json | undefined }
  | { is: "either"; cases: Json[] }
  | { is: "json" };

export type Shape = About & Kind;

/** A chain of references is not followed further: a schema may lead round in a circle. */
const HOPS = 24;
/** More of a schema than anybody fills in. */
const MOST = 500;

const words = (value: Json | undefined) => (typeof value === "string" ? value : "");
const list = (value: Json | undefined) => (Array.isArray(value) ? value : []);
const isObject = (schema: Fields) => isFields(schema.properties) || isFields(schema.additionalProperties) || isFields(schema.patternProperties);

/** Several schemas that hold at once, as one. */
function merged(base: Fields, other: Fields): Fields {
  const both: Fields = { ...base, ...other };
  if (isFields(base.properties) && isFields(other.properties)) both.properties = { ...base.properties, ...other.properties };
  if (base.required || other.required) both.required = [...list(base.required), ...list(other.required)];
  // A description at the reference is more specific than one at the definition.
  for (const key of ["title", "description", "default"]) if (base[key] !== undefined) both[key] = base[key];
  return both;
}

export class Schemas {
  readonly root: Json;
  #known = new WeakMap<object, Shape>();

  constructor(root: Json) {
    this.root = root;
  }

  shape(schema: Json): Shape {
    if (!isFields(schema)) return { ...about({}), is: "json" };
    const known = this.#known.get(schema);
    if (known) return known;
    const shape = this.#read(schema);
    this.#known.set(schema, shape);
    return shape;
  }

  /** With references followed and everything that holds at once put together. */
  #whole(schema: Json, hops = HOPS): Fields {
    if (!isFields(schema) || hops === 0) return {};
    let { $ref, allOf, ...rest } = schema as Fields;
    if (typeof $ref === "string") rest = merged(rest, this.#whole(this.#named($ref), hops - 1));
    return list(allOf).slice(0, MOST).reduce<Fields>((whole, part) => merged(whole, this.#whole(part, hops - 1)), rest);
  }

  #named(ref: string): Json {
    if (ref === "#") return this.root;
    if (!ref.startsWith("#/")) return {};
    let here: Json | undefined = this.root;
    for (const step of ref.slice(2).split("/")) {
      const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
      here = isFields(here) && Object.hasOwn(here, name) ? here[name] : Array.isArray(here) ? here[Number(name)] : undefined;
    }
    return here ?? {};
  }

  #read(schema: Fields): Shape {
    const whole = this.#whole(schema);
    const cases = (Array.isArray(whole.anyOf) ? whole.anyOf : list(whole.oneOf)).slice(0, MOST).map((one) => this.#whole(one));
    const { anyOf: _, oneOf: __, ...base } = whole;
    // Cases that only say what else is required are no choice between forms.
    const forms = cases.filter((one) => Object.keys(one).some((key) => key !== "required" && key !== "not"));
    if (forms.length === 0) return this.#plain(base);
    const real = forms.filter((one) => one.type !== "null" && one.const !== null);
    const nullable = real.length < forms.length;
    const options = optionsOf(real);
    const shape: Shape = options
      ? { ...about(base), is: "choice", options }
      : real.length === 1
        ? this.#plain(merged(base, real[0]!))
        : { ...about(base), is: "either", cases: real.map((one) => (isObject(base) || one.type === undefined ? { ...merged(base, one), title: one.title ?? "", description: one.description ?? "" } : one)) };
    return { ...shape, nullable: shape.nullable || nullable };
  }

  #plain(schema: Fields): Shape {
    const types = typeof schema.type === "string" ? [schema.type] : list(schema.type).filter((type) => typeof type === "string");
    const real = types.filter((type) => type !== "null");
    const said = { ...about(schema), nullable: (real.length < types.length && real.length > 0) || schema.nullable === true };
    if (schema.const !== undefined || Array.isArray(schema.enum)) {
      const options = optionsOf([schema]) ?? [];
      return { ...said, nullable: said.nullable || list(schema.enum).includes(null), ...(options.length > 0 ? { is: "choice", options } : { is: "json" }) };
    }
    if (real.length > 1) return { ...said, is: "either", cases: real.map((type) => ({ ...schema, type, title: type, description: "", default: schema.default ?? null })) };
    return { ...said, ...this.#kind(real[0] ?? guessed(schema), schema) };
  }

  #kind(type: string | undefined, schema: Fields): Kind {
    switch (type) {
      case "string":
        return textual(schema);
      case "number":
      case "integer":
        return { is: "number", whole: type === "integer", min: bound(schema, "minimum", "exclusiveMinimum"), max: bound(schema, "maximum", "exclusiveMaximum") };
      case "boolean":
        return { is: "toggle" };
      case "array":
        return this.#list(schema);
      case "object":
        return this.#group(schema);
      default:
        return { is: "json" };
    }
  }

  #list(schema: Fields): Kind {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : [];
    const items = Array.isArray(schema.items) ? (schema.additionalItems ?? {}) : (schema.items ?? {});
    const item = first.length === 0 && isFields(items) ? this.shape(items) : undefined;
    if (item?.is === "choice" && item.options.length > 1) return { is: "several", options: item.options };
    return { is: "list", of: (at) => first[at] ?? items, min: numberIn(schema.minItems) ?? 0, max: numberIn(schema.maxItems) ?? (items === false ? first.length : undefined) };
  }

  #group(schema: Fields): Kind {
    const properties = isFields(schema.properties) ? schema.properties : {};
    const required = new Set(list(schema.required));
    const fields = Object.entries(properties).slice(0, MOST).map(([name, schema]): Field => ({ name, schema, required: required.has(name) }));
    // What must be there and is not described is asked for all the same.
    for (const name of required) if (typeof name === "string" && !Object.hasOwn(properties, name) && fields.length < MOST) fields.push({ name, schema: {}, required: true });
    const other = schema.additionalProperties;
    const rest = isFields(schema.patternProperties) ? (Object.values(schema.patternProperties)[0] ?? {}) : isFields(other) || other === true ? other : other === undefined && schema.properties === undefined ? {} : undefined;
    return { is: "group", fields, rest: rest === true ? {} : rest };
  }
}

function about(schema: Fields): About {
  const examples = list(schema.examples);
  return {
    title: words(schema.title),
    text: words(schema.description),
    preset: schema.default,
    examples: schema.example === undefined ? examples : [...examples, schema.example],
    nullable: false,
    deprecated: schema.deprecated === true,
  };
}

function textual(schema: Fields): Kind {
  const max = numberIn(schema.maxLength);
  const format = words(schema.format);
  const long = format === "" && (max === undefined || max > 120);
  const said = words(schema.pattern);
  return { is: "text", format, min: numberIn(schema.minLength), max, pattern: isExpression(said) ? said : "", long, secret: format === "password" || schema.writeOnly === true };
}

/** As JSON Schema means it: anywhere in the text, by characters. One that is no expression checks nothing. */
function isExpression(pattern: string): boolean {
  if (!pattern || pattern.length > LONGEST_PATTERN) return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}
/** A longer one is left to the hub. */
const LONGEST_PATTERN = 2_000;

const bound = (schema: Fields, key: string, beyond: string) => numberIn(schema[key]) ?? numberIn(schema[beyond]);

/** The type that a schema means which names none. */
function guessed(schema: Fields): string | undefined {
  if (isObject(schema)) return "object";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "array";
  if (schema.pattern !== undefined || schema.minLength !== undefined || schema.maxLength !== undefined || schema.format !== undefined) return "string";
  return schema.minimum !== undefined || schema.maximum !== undefined ? "number" : undefined;
}

/** Values to choose from, where all cases are some. */
function optionsOf(cases: Fields[]): Option[] | undefined {
  const options: Option[] = [];
  for (const one of cases) {
    const names = list(one.enumNames);
    const values = one.const !== undefined ? [one.const] : Array.isArray(one.enum) ? one.enum : undefined;
    if (!values) return undefined;
    const titled = one.const !== undefined || values.length === 1;
    values.slice(0, MOST).forEach((value, at) => {
      if (value !== null && !options.some((known) => isSame(known.value, value))) options.push({ value, title: words(names[at]) || (titled && cases.length > 1 ? words(one.title) : "") || shown(value) });
    });
  }
  return options;
}

/** A value in one line. */
export const shown = (value: Json) => (typeof value === "string" ? value : print(value, 0));

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
