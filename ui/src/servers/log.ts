// The lines of a server's log: when, from where, how severe. Pure.

export type Level = "error" | "warning" | "info";

export interface LogLine {
  /** Its place in the log. */
  number: number;
  /** `undefined` for a line of another shape than satchel-core writes. */
  at: Date | undefined;
  /** `satchel`, or where the server wrote it. */
  source: string;
  text: string;
  level: Level;
}

// As satchel-core writes them: `2026-11-21T09:14:02.120Z stderr: text`.
const shape = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\w+): (.*)$/s;
/** What programs write at the beginning of a line where it is not said by their words. */
const stated = /^\W{0,3}(?:[\d:.,\-TZ/ ]+\W{0,3})?(trace|debug|info|notice|warn|warning|error|err|critical|fatal|panic)\b/i;
const errors = /\b(error|err|fail(s|ed|ure|ing)?|fatal|panic(ked)?|exception|traceback|cannot|can't|unable|denied|refused|timed? ?out|not found|killed|crash(ed)?)\b/i;
/** As the system names errors: ENOENT, ECONNREFUSED. */
const codes = /\bE[A-Z]{3,}[A-Z0-9]*\b/;
/** A line of JSON says it in a field. */
const field = /"(?:level|severity)"\s*:\s*"(\w+)"/i;
const warnings = /\b(warn(ing)?s?|deprecated|deprecation)\b/i;

export function level(text: string): Level {
  const said = (stated.exec(text) ?? field.exec(text))?.[1]?.toLowerCase();
  if (said) return /^(err|error|critical|fatal|panic)$/.test(said) ? "error" : said.startsWith("warn") ? "warning" : "info";
  return errors.test(text) || codes.test(text) ? "error" : warnings.test(text) ? "warning" : "info";
}

export function read(line: string, number: number): LogLine {
  const [, at, source, text] = shape.exec(line) ?? [];
  const words = text ?? line;
  return { number, at: at === undefined ? undefined : new Date(at), source: source ?? "", text: words, level: level(words) };
}

/** Is it of this severity at least, and does it say this? */
export const fits = (line: LogLine, from: Level, wanted: string) =>
  (from === "info" || line.level === "error" || line.level === from) && line.text.toLowerCase().includes(wanted.trim().toLowerCase());
