// The variables, or headers, of a server's entry as rows that are edited. Pure.

export interface Row {
  name: string;
  value: string;
}
type Entry = Record<string, unknown>;

/** Where they stand in an entry: a hosted server has headers. */
export const placeOf = (entry: Entry) => ("url" in entry ? "headers" : "env");

export function rows(entry: Entry): Row[] {
  const found = entry[placeOf(entry)];
  if (typeof found !== "object" || found === null || Array.isArray(found)) return [];
  return Object.entries(found).map(([name, value]) => ({ name, value: typeof value === "string" ? value : JSON.stringify(value) }));
}

/** What cannot be saved: a name that is missing, or there twice. */
export function fault(all: readonly Row[]): { twice: string } | "empty" | undefined {
  const seen = new Set<string>();
  for (const { name } of all) {
    if (!name.trim()) return "empty";
    if (seen.has(name.trim())) return { twice: name.trim() };
    seen.add(name.trim());
  }
  return undefined;
}

/** The entry with these rows; what was not touched keeps its kind, such as a number. */
export function withRows(entry: Entry, all: readonly Row[]): Entry {
  const place = placeOf(entry);
  const before = (entry[place] ?? {}) as Entry;
  const same = (name: string, value: string) => Object.hasOwn(before, name) && typeof before[name] !== "string" && JSON.stringify(before[name]) === value;
  const next = Object.fromEntries(all.map(({ name, value }) => [name.trim(), same(name.trim(), value) ? before[name.trim()] : value]));
  const { [place]: _, ...rest } = entry;
  return all.length === 0 ? rest : { ...entry, [place]: next };
}
