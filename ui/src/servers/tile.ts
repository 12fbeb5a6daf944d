// The two letters and the hue that stand for a server without an icon.

const common = new Set(["mcp", "server", "the"]);

/** `github` G, `sequential-thinking` ST, `context7` C7, `mcp-server-git` G */
export function letters(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const telling = parts.filter((part) => !common.has(part.toLowerCase()));
  const [first = name, second] = telling.length > 0 ? telling : parts;
  const start = [...first][0] ?? "";
  const tail = second ? [...second][0] : /^\p{L}+(\p{N})\p{N}?$/u.exec(first)?.[1];
  return (start + (tail ?? "")).toUpperCase();
}

/** A hue in degrees; the same for the same name, always. */
export function hue(name: string): number {
  let hash = 2166136261;
  for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16777619);
  return (hash >>> 0) % 360;
}
