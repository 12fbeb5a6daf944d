// What strangers wrote, cut so that its beginning and its end are in view, however long or tall it is. Pure.
import { commandLine, oneLine, visible } from "../lib/plain";

/** A run of text, or blank space that is told instead of drawn. */
export type Piece = { text: string } | { blank: "breaks" | "spaces"; count: number };

/** Everything, or a beginning and an end with what is between them counted. */
export interface Cut {
  head: Piece[];
  between: { characters: number; items: number } | undefined;
  tail: Piece[];
}

/** What a line break and a run of blanks take of the room that is there, in characters. */
const line = 40;
const run = 16;
/** More blanks in a row than a paragraph or an indent needs are counted. */
const blanks = /\n[ \t]*\n[ \t\n]*\n|[ \t]{9,}/gu;

/** The text with long blanks counted, so that nothing can be pushed out of sight by them. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(blanks)) {
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    const breaks = match[0].split("\n").length - 1;
    found.push(breaks > 0 ? { blank: "breaks", count: breaks } : { blank: "spaces", count: match[0].length });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

const costOf = (text: string) => [...text].reduce((sum, sign) => sum + (sign === "\n" ? line : 1), 0);
export const weight = (piece: Piece) => ("text" in piece ? costOf(piece.text) : run);
const lengthOf = (piece: Piece) => ("text" in piece ? [...piece.text].length : piece.count);

/** Whole where it takes no more than `most`; otherwise three fifths of that from the beginning, two from the end. */
export function cut(text: string, most: number): Cut {
  const all = pieces(visible(text));
  if (all.reduce((sum, piece) => sum + weight(piece), 0) <= most) return { head: all, between: undefined, tail: [] };
  const [head, rest] = taken(all, most * 0.6);
  const [tail, middle] = taken(rest.reverse().map(reversed), most * 0.4);
  return {
    head,
    between: { characters: middle.reduce((sum, piece) => sum + lengthOf(piece), 0), items: 0 },
    tail: tail.map(reversed).reverse(),
  };
}

const reversed = (piece: Piece): Piece => ("text" in piece ? { text: [...piece.text].reverse().join("") } : piece);

/** The pieces from the beginning that fit into the room, and the rest. */
function taken(all: readonly Piece[], room: number): [Piece[], Piece[]] {
  const first: Piece[] = [];
  let left = room;
  for (const [at, piece] of all.entries()) {
    if (weight(piece) <= left) {
      first.push(piece);
      left -= weight(piece);
      continue;
    }
    if (!("text" in piece)) return [first, all.slice(at)];
    const signs = [...piece.text];
    let here = 0;
    while (here < signs.length && left >= (signs[here] === "\n" ? line : 1)) left -= signs[here++] === "\n" ? line : 1;
    if (here > 0) first.push({ text: signs.slice(0, here).join("") });
    return [first, [{ text: signs.slice(here).join("") }, ...all.slice(at + 1)]];
  }
  return [first, []];
}

/** One word of a command as a person reads it, in quotes where its borders would not show. */
export const quoted = (word: string) => commandLine(word, []);

/** The words of a launch from the first to the last, each by itself, those between counted. */
export interface Line {
  head: string[];
  between: { characters: number; items: number } | undefined;
  tail: string[];
}

/** Whole words only; a word that is long by itself is cut where it is drawn. */
export function cutWords(words: readonly string[], most: number, longest: number): Line {
  const cost = (word: string) => Math.min([...oneLine(word)].length, longest) + 3;
  if (words.reduce((sum, word) => sum + cost(word), 0) <= most) return { head: [...words], between: undefined, tail: [] };
  const upTo = (all: readonly string[], room: number) => {
    let [at, left] = [0, room];
    while (at < all.length && (at === 0 || cost(all[at]!) <= left)) left -= cost(all[at++]!);
    return at;
  };
  const first = upTo(words, most * 0.6);
  const last = upTo([...words.slice(first)].reverse(), most * 0.4);
  const middle = words.slice(first, words.length - last);
  if (middle.length === 0) return { head: [...words], between: undefined, tail: [] };
  const characters = middle.reduce((sum, word) => sum + [...oneLine(word)].length, 0);
  return { head: words.slice(0, first), between: { characters, items: middle.length }, tail: words.slice(words.length - last) };
}

/** The first and the last of a list whose parts have these weights, with the number of those between. */
export function cutList(weights: readonly number[], most: number): { head: number; tail: number } {
  const total = weights.reduce((sum, one) => sum + one, 0);
  if (total <= most || weights.length < 4) return { head: weights.length, tail: 0 };
  const upTo = (all: readonly number[], room: number) => {
    let [at, left] = [0, room];
    while (at < all.length && (at === 0 || all[at]! <= left)) left -= all[at++]!;
    return at;
  };
  const head = upTo(weights, most * 0.6);
  const tail = upTo([...weights.slice(head)].reverse(), most * 0.4);
  return head + tail >= weights.length ? { head: weights.length, tail: 0 } : { head, tail };
}
