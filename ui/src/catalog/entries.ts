// What a bundled server runs and accesses, and its context cost. Pure.
import type { Listed, Need, ServerView } from "../lib/hub/generated";

export const hosted = (entry: Listed) => entry.target.kind === "url";

/** Is it a part of Satchel? */
export const isOwn = ({ target }: Listed) => target.kind === "command" && target.command === "satchel";

/** Is this the key in place of which a person can sign in? */
export const signsIn = (entry: Listed, need: Need) => hosted(entry) && need.kind === "secret" && need.optional;

/** What runs or where it connects, as one line. */
export const runs = ({ target }: Listed) => (target.kind === "url" ? target.url : [target.command, ...target.args].join(" "));
export const hostOf = ({ target }: Listed) => (target.kind === "url" && URL.canParse(target.url) ? new URL(target.url).hostname : "");

/** Number of tools and their tokens: counted here if the server is configured, otherwise from the catalog. */
export function figuresOf(entry: Listed, added: ServerView | undefined): { tools: number; tokens: number } | undefined {
  if (added && added.tools !== null && added.tokens !== null) return { tools: added.tools, tokens: added.tokens };
  return entry.measured ?? undefined;
}
