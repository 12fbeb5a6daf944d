// A tool's result in parts that can be shown. Pure. Unknown kinds are shown as JSON; nothing is rendered as markup.
import { isFields, isSame, parse, type Fields, type Json } from "./json";
import { looksLikeMarkdown } from "./markdown";

export type Part =
  | { is: "text"; text: string; markdown: boolean }
  | { is: "tree"; value: Json }
  | { is: "table"; columns: string[]; rows: Json[][]; value: Json }
  | { is: "image"; source: string; type: string; bytes: number }
  | { is: "audio"; source: string; type: string; bytes: number }
  | { is: "file"; name: string; text: string; uri: string; type: string; bytes: number | undefined };

export interface Answer {
  parts: Part[];
  /** The tool says that it failed. */
  failed: boolean;
  /** Corrections that the hub made to the arguments. */
  corrected: string[];
  /** Everything in it that is text. */
  text: string;
}

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const sounds = ["audio/wav", "audio/x-wav", "audio/wave", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/webm", "audio/mp4", "audio/aac", "audio/flac"];
/** Larger ones are named, not shown. */
const MEDIA = 8_000_000;
const COLUMNS = 12;
const ROWS = 500;
const PARTS = 200;

const words = (value: Json | undefined) => (typeof value === "string" ? value : "");

export function read(result: Json): Answer {
  const fields = isFields(result) ? result : {};
  const content = contentOf(fields).slice(0, PARTS);
  const structured = fields.structuredContent;
  const meta = isFields(fields._meta) ? fields._meta["dev.satchel/corrected"] : undefined;
  // Servers repeat structured content as text, for clients without support for structure.
  const blocks = content.filter((block) => structured === undefined || structured === null || !saysSame(block, structured));
  const parts = [...blocks.map(part), ...(structured === undefined || structured === null ? [] : [data(structured)])];
  return {
    parts: content.length === 0 && parts.length === 0 && !isFields(result) ? [data(result)] : parts,
    failed: fields.isError === true,
    corrected: Array.isArray(meta) ? meta.map(words) : [],
    text: content.map((block) => (isFields(block) ? words(block.text) || (isFields(block.resource) ? words(block.resource.text) : "") : "")).filter(Boolean).join("\n"),
  };
}

/** The blocks of a tool's result, of a resource that was read, or of a prompt. */
export function contentOf(fields: Fields): Json[] {
  if (Array.isArray(fields.content)) return fields.content;
  if (Array.isArray(fields.contents)) return fields.contents.map((resource): Json => ({ type: "resource", resource }));
  if (Array.isArray(fields.messages)) return fields.messages.flatMap((message): Json[] => (isFields(message) && message.content !== undefined ? (Array.isArray(message.content) ? message.content : [message.content]) : [message]));
  return [];
}

function saysSame(block: Json, structured: Json): boolean {
  const value = isFields(block) && block.type === "text" ? jsonIn(words(block.text)) : undefined;
  return value !== undefined && (isSame(value, structured) || (isFields(structured) && isSame(value, structured.result)));
}

function part(block: Json): Part {
  if (!isFields(block)) return { is: "tree", value: block };
  switch (block.type) {
    case "text":
      return ofText(words(block.text));
    case "image":
    case "audio":
      return media(words(block.mimeType), words(block.data)) ?? { is: "tree", value: block };
    case "resource_link":
      return { is: "file", name: words(block.title) || words(block.name) || words(block.uri), text: words(block.description), uri: words(block.uri), type: words(block.mimeType), bytes: typeof block.size === "number" ? block.size : undefined };
    case "resource":
      return isFields(block.resource) ? ofResource(block.resource) : { is: "tree", value: block };
    default:
      return { is: "tree", value: block };
  }
}

function ofResource(resource: Fields): Part {
  const [type, uri, blob] = [words(resource.mimeType), words(resource.uri), words(resource.blob)];
  if (typeof resource.text === "string") return ofText(resource.text, type);
  return media(type, blob) ?? { is: "file", name: uri, text: "", uri, type, bytes: Math.floor((blob.length * 3) / 4) };
}

function ofText(text: string, type = ""): Part {
  const value = type === "" || type.includes("json") ? jsonIn(text) : undefined;
  return value === undefined ? { is: "text", text, markdown: type.includes("markdown") || ((type === "" || type === "text/plain") && looksLikeMarkdown(text)) } : data(value);
}

/** Objects and lists written as text; a word or a number stays a text. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function data(value: Json): Part {
  const only = isFields(value) && Object.keys(value).length === 1 ? Object.values(value)[0]! : value;
  const rows = Array.isArray(only) ? only.slice(0, ROWS) : [];
  if (rows.length === 0 || !rows.every(isFields)) return { is: "tree", value };
  const columns = [...new Set((rows as Fields[]).flatMap((row) => Object.keys(row)))];
  if (columns.length === 0 || columns.length > COLUMNS) return { is: "tree", value };
  return { is: "table", columns, rows: (rows as Fields[]).map((row) => columns.map((column) => (Object.hasOwn(row, column) ? row[column]! : ""))), value };
}

/** Of a kind that shows and does nothing else, whole, and not too large. */
function media(type: string, data: string): Part | undefined {
  const plain = type.toLowerCase().split(";")[0]!.trim();
  const is = pictures.includes(plain) ? "image" : sounds.includes(plain) ? "audio" : undefined;
  if (!is || data.length === 0 || data.length > (MEDIA * 4) / 3 || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data)) return undefined;
  return { is, source: `data:${plain};base64,${data.replace(/\s/g, "")}`, type: plain, bytes: Math.floor((data.length * 3) / 4) };
}
