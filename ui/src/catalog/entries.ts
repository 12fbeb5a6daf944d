// What a listed server becomes once it is added. Pure.
import type { Listed, Need, ServerView, Target } from "../lib/hub/generated";

export const hosted = (entry: Listed) => entry.target.kind === "url";

/** Is this the key in place of which a person can sign in? */
export const signsIn = (entry: Listed, need: Need) => hosted(entry) && need.kind === "secret" && need.optional;

/** What runs or where it connects, as one line. */
export const runs = ({ target }: Listed) => (target.kind === "url" ? target.url : [target.command, ...target.args].join(" "));
export const hostOf = ({ target }: Listed) => (target.kind === "url" && URL.canParse(target.url) ? new URL(target.url).hostname : "");

/** The name its secret is stored under. */
export const secretName = (entry: Listed, need: Need) => {
  const server = entry.id.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
  return need.name.startsWith(server) ? need.name : `${server}_${need.name}`;
};

/** The target with what was given: texts in place, secrets by reference. Unused optional parts are left out. */
export function filled(entry: Listed, given: Record<string, string>): { target: Target; secrets: Record<string, string> } {
  const secrets: Record<string, string> = {};
  const values = new Map(
    entry.needs.map((need) => {
      const value = (given[need.name] ?? "").trim();
      if (need.kind !== "secret" || !value) return [need.name, value] as const;
      const name = secretName(entry, need);
      secrets[name] = value;
      return [need.name, `\${secret:${name}}`] as const;
    }),
  );
  const names = (text: string) => [...text.matchAll(/\{([A-Za-z_]\w*)\}/g)].map((match) => match[1]!).filter((name) => values.has(name));
  const fill = (text: string) => text.replace(/\{([A-Za-z_]\w*)\}/g, (whole, name: string) => values.get(name) ?? whole);
  const has = (text: string) => names(text).every((name) => values.get(name));
  const pairs = (from: Record<string, string>) => Object.fromEntries(Object.entries(from).filter(([, text]) => has(text)).map(([name, text]) => [name, fill(text)]));
  const { target } = entry;
  return {
    target:
      target.kind === "url"
        ? { ...target, url: fill(target.url), headers: pairs(target.headers) }
        : { ...target, args: target.args.filter(has).map(fill), env: pairs(target.env) },
    secrets,
  };
}

/** How many tools it has and what they weigh: as counted here where it is added, else as the list says. */
export function figuresOf(entry: Listed, added: ServerView | undefined): { tools: number; tokens: number } | undefined {
  if (added && added.tools !== null && added.tokens !== null) return { tools: added.tools, tokens: added.tokens };
  return entry.measured ?? undefined;
}
