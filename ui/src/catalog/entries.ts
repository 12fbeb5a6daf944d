// What a bundled server runs, reaches and weighs. Pure.
import type { Listed, Need, ServerView } from "../lib/hub/generated";

export const hosted = (entry: Listed) => entry.target.kind === "url";

/** Is it a part of Satchel? */
export const isOwn = ({ target }: Listed) => target.kind === "command" && target.command === "satchel";

/** Is this the key in place of which a person can sign in? */
export const signsIn = (entry: Listed, need: Need) => hosted(entry) && need.kind === "secret" && need.optional;

/** What runs or where it connects, as one line. */
export const runs = ({ target }: Listed) => (target.kind === "url" ? target.url : [target.command, ...target.args].join(" "));
export const hostOf = ({ target }: Listed) => (target.kind === "url" && URL.canParse(target.url) ? new URL(target.url).hostname : "");

/** How many tools it has and what they weigh: as counted here where it is added, else as the list says. */
export function figuresOf(entry: Listed, added: ServerView | undefined): { tools: number; tokens: number } | undefined {
  if (added && added.tools !== null && added.tokens !== null) return { tools: added.tools, tokens: added.tokens };
  return entry.measured ?? undefined;
}
