// Request or response as searchable lines of text. Pure.
import { parse, print } from "../tools/json";
import { read, type Part } from "../tools/result";

/** Longer texts are shown in part. */
export const LINES = 2_000;
const LENGTH = 1_000_000;

/** The text laid out: JSON with one value a line, anything else as it is. */
export function laidOut(text: string): string {
  if (text.length > LENGTH) return text;
  try {
    return print(parse(text));
  } catch {
    return text;
  }
}

/** A line split into segments; every second one matches the search. */
export function stretches(line: string, wanted: string): string[] {
  if (!wanted) return [line];
  const low = line.toLowerCase();
  const parts: string[] = [];
  let at = 0;
  // Lower case may be longer than the text, such as İ; then places do not fit, and nothing is marked.
  for (let found = low.length === line.length ? low.indexOf(wanted) : -1; found >= 0; found = low.indexOf(wanted, at)) {
    parts.push(line.slice(at, found), line.slice(found, found + wanted.length));
    at = found + wanted.length;
  }
  return [...parts, line.slice(at)];
}

/** The text of a result that a model reads: text blocks, and descriptions of the others. */
export function readByModel(result: string): string | undefined {
  try {
    const read = JSON.parse(result) as { content?: unknown; contents?: unknown };
    const blocks = Array.isArray(read.content) ? read.content : Array.isArray(read.contents) ? read.contents : undefined;
    if (!blocks) return undefined;
    const texts = blocks.flatMap((block: { text?: unknown }) => (typeof block?.text === "string" ? [laidOut(block.text)] : []));
    return texts.length > 0 ? texts.join("\n") : undefined;
  } catch {
    return undefined;
  }
}

/** The pictures and sounds of a result. */
export function mediaIn(result: string): Extract<Part, { is: "image" | "audio" }>[] {
  try {
    return read(parse(result)).parts.filter((part) => part.is === "image" || part.is === "audio");
  } catch {
    return [];
  }
}
