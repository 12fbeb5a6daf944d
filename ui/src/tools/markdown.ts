// A safe part of Markdown, as a tree that a component draws: headings, lists, tables, code, quotes, emphasis, links to pages
// of the web. Pure. There is no HTML in it and no picture; what is neither stays as it was written. Every pattern is bounded,
// so that reading takes as long as the text is.
export type Inline =
  | { is: "text"; text: string }
  | { is: "code"; text: string }
  | { is: "strong"; of: Inline[] }
  | { is: "em"; of: Inline[] }
  | { is: "del"; of: Inline[] }
  | { is: "link"; of: Inline[]; to: string };

export type Block =
  | { is: "heading"; level: number; of: Inline[] }
  | { is: "text"; of: Inline[] }
  | { is: "code"; text: string; language: string }
  | { is: "quote"; of: Block[] }
  | { is: "list"; ordered: boolean; start: number; items: Block[][] }
  | { is: "table"; head: Inline[][]; rows: Inline[][][] }
  | { is: "line" };

/** More is shown as plain text. */
export const LONGEST = 200_000;
const DEEP = 6;

const heading = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/;
const bullet = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)/;
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const isRule = (line: string) => line.length < 200 && rule.test(line);
const dashes = /^\|?[ \t]*:?-{1,}:?[ \t]*(\|[ \t]*:?-{1,}:?[ \t]*)*\|?[ \t]*$/;

export function looksLikeMarkdown(text: string): boolean {
  return text.length <= LONGEST && /^(#{1,6} \S|```|[-*+] \S.*\n[-*+] \S|\d+\. \S.*\n\d+\. \S|> \S|\|.{1,300}\|\s*\n\|[ :|-]{3,300}\|)|\*\*\S[^*\n]{0,200}\*\*|\[[^\]\n]{1,200}\]\(https?:/m.test(text);
}

export const read = (text: string): Block[] => blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);

function blocks(lines: string[], deep: number): Block[] {
  const found: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, used] = block_(lines, at, deep);
    found.push(block);
    at += used;
  }
  return found;
}

/** The block that begins here, and how many lines it has. */
function block_(lines: string[], at: number, deep: number): [Block, number] {
  const line = lines[at]!;
  const title = line.length < 1000 ? heading.exec(line) : null;
  if (title) return [{ is: "heading", level: title[1]!.length, of: inline(title[2]!) }, 1];
  const fenced = fence.exec(line);
  if (fenced) return code(lines, at, fenced[1]!, fenced[2]!);
  if (isRule(line)) return [{ is: "line" }, 1];
  if (/^ {0,3}>/.test(line) && deep < DEEP) {
    const end = until(lines, at, (one) => /^ {0,3}>/.test(one));
    return [{ is: "quote", of: blocks(lines.slice(at, end).map((one) => one.replace(/^ {0,3}> ?/, "")), deep + 1) }, end - at];
  }
  if (bullet.test(line) && deep < DEEP) return list(lines, at, deep);
  const next = lines[at + 1] ?? "";
  if (line.includes("|") && next.includes("-") && next.length < 1000 && dashes.test(next)) return table(lines, at);
  const end = Math.max(at + 1, until(lines, at, (one, first) => first || (one.trim() !== "" && !/^ {0,3}(#{1,6} |>|`{3}|~{3}|[-*+] |\d{1,9}[.)] )/.test(one))));
  return [{ is: "text", of: inline(lines.slice(at, end).map((one) => one.trim()).join("\n")) }, end - at];
}

function until(lines: string[], at: number, goesOn: (line: string, first: boolean) => boolean): number {
  let end = at;
  while (end < lines.length && goesOn(lines[end]!, end === at)) end += 1;
  return end;
}

function code(lines: string[], at: number, marks: string, language: string): [Block, number] {
  let end = at + 1;
  while (end < lines.length && !lines[end]!.trim().startsWith(marks)) end += 1;
  return [{ is: "code", text: lines.slice(at + 1, end).join("\n"), language }, Math.min(end + 1, lines.length) - at];
}

function list(lines: string[], at: number, deep: number): [Block, number] {
  const first = bullet.exec(lines[at]!)!;
  const ordered = /\d/.test(first[2]!);
  const items: Block[][] = [];
  let here = at;
  while (here < lines.length) {
    const mark = bullet.exec(lines[here]!);
    if (!mark || /\d/.test(mark[2]!) !== ordered || (items.length > 0 && isRule(lines[here]!))) break;
    const width = mark[0].length;
    let end = here + 1;
    // Indented lines belong to the item, even after a blank line.
    while (end < lines.length && (/^\s*$/.test(lines[end]!) ? /^ {2,}|^\t/.test(lines[end + 1] ?? "") : /^ {2,}|^\t/.test(lines[end]!) || (!bullet.test(lines[end]!) && lines[end - 1]!.trim() !== "" && !heading.test(lines[end]!.slice(0, 200)) && !fence.test(lines[end]!)))) end += 1;
    const own = lines.slice(here, end).map((line, number) => (number === 0 ? line.slice(width) : line.replace(/^\t| {1,4}/, (space) => space.slice(width))));
    items.push(blocks(own, deep + 1));
    here = end;
    if (lines[here]?.trim() === "" && bullet.test(lines[here + 1] ?? "")) here += 1;
  }
  return [{ is: "list", ordered, start: ordered ? Number.parseInt(first[2]!, 10) : 1, items }, here - at];
}

function table(lines: string[], at: number): [Block, number] {
  const end = until(lines, at + 2, (line) => line.includes("|"));
  const cells = (line: string) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).slice(0, 50).map((cell) => inline(cell.trim().replaceAll("\\|", "|")));
  return [{ is: "table", head: cells(lines[at]!), rows: lines.slice(at + 2, end).map(cells) }, end - at];
}

const marks = /(`{1,3})(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)|\*\*(?=\S)([^\n]{1,1000}?)(?<=\S)\*\*|~~(?=\S)([^\n]{1,1000}?)~~|(?<![\w*])\*(?=[^\s*])([^*\n]{1,1000}?)(?<=\S)\*(?!\*)|(?<!\w)_(?=[^\s_])([^_\n]{1,1000}?)(?<=\S)_(?!\w)|!?\[([^\]\n]{0,500})\]\(<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:[ \t]+["'][^"'\n]{0,300}["'])?\)|(?<![\w/])(https?:\/\/[^\s<>"'`\])}]{1,2000})/g;

const isPage = (address: string) => /^https?:\/\/[^/]/i.test(address);

export function inline(text: string, deep = 0): Inline[] {
  if (deep >= DEEP) return [{ is: "text", text }];
  const found: Inline[] = [];
  let at = 0;
  const plain = (end: number) => end > at && found.push({ is: "text", text: text.slice(at, end) });
  for (const match of text.matchAll(marks)) {
    const [whole, , code, strong, del, star, under, label, to, address] = match;
    const within = (is: "strong" | "em" | "del", of: string): Inline => ({ is, of: inline(of, deep + 1) });
    plain(match.index);
    at = match.index + whole.length;
    if (code !== undefined) found.push({ is: "code", text: code.trim() || code });
    else if (strong !== undefined) found.push(within("strong", strong));
    else if (del !== undefined) found.push(within("del", del));
    else if (star !== undefined || under !== undefined) found.push(within("em", (star ?? under)!));
    else if (address !== undefined) {
      const end = address.replace(/[.,;:!?]+$/, "");
      at -= address.length - end.length;
      found.push({ is: "link", of: [{ is: "text", text: end }], to: end });
    } else if (to !== undefined && isPage(to)) found.push({ is: "link", of: label ? inline(label, deep + 1) : [{ is: "text", text: to }], to });
    else found.push({ is: "text", text: whole });
  }
  plain(text.length);
  return found;
}
