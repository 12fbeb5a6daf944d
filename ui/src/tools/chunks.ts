// Cuts a long text where its lines end. Pure.

/** A chunk has at most so many lines and characters: what an engine lays out in some milliseconds. */
const LINES = 200;
const SIGNS = 16_000;

/** The chunks of a text; together they are the text without the line breaks between them. */
export function chunks(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  while (from < text.length || found.length === 0) {
    const most = Math.min(from + SIGNS, text.length);
    let [end, lines] = [from, 0];
    while (lines < LINES) {
      const next = text.indexOf("\n", end);
      if (next < 0 || next >= most) break;
      end = next + 1;
      lines++;
    }
    // One line that is longer than a chunk is cut within.
    if (lines === 0 || (lines < LINES && most === text.length)) end = most;
    // Not within a character of two units.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end++;
    found.push(text.slice(from, end).replace(/\n$/, ""));
    from = end;
    if (text.length === 0) break;
  }
  return found;
}
