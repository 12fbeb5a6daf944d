// Which group a server is listed under, and when it may move.
import type { ServerView } from "../lib/hub/generated";
import type { Tab } from "../lib/route.svelte";
import { signInNeed } from "./signIn";

export type Group = "needs-you" | "awake" | "asleep" | "off";
export const groups: readonly Group[] = ["needs-you", "awake", "asleep", "off"];

export function groupOf(server: ServerView): Group {
  if (server.enabled && (server.held > 0 || server.last_failure || signInNeed(server))) return "needs-you";
  switch (server.state) {
    case "off":
      return "off";
    case "asleep":
      return "asleep";
    case "starting":
    case "ready":
      return "awake";
    case "stopping":
      return server.enabled ? "asleep" : "off";
    case "backing_off":
    case "broken":
    case "needs_credential":
    case "needs_sign_in":
    case "invalid":
      return "needs-you";
  }
}

/** Where to look first at a server: at what it offers, where a person is wanted for nothing else. */
export function firstTab(server: ServerView | undefined): Tab {
  const troubled = server && (server.last_failure || signInNeed(server) || ["backing_off", "broken", "needs_credential", "invalid"].includes(server.state));
  return server && !troubled && server.enabled && server.held > 0 ? "tools" : "overview";
}

const severity: Partial<Record<ServerView["state"], number>> = { broken: 0, invalid: 0, backing_off: 1, needs_sign_in: 2, needs_credential: 3 };

export interface Section {
  group: Group;
  servers: ServerView[];
}

/** The list as it is shown: by group, then by name; what needs you by severity first. */
export function sections(servers: ServerView[], groupFor: (server: ServerView) => Group): Section[] {
  return groups
    .map((group) => ({ group, servers: servers.filter((server) => groupFor(server) === group).sort(order(group)) }))
    .filter((section) => section.servers.length > 0);
}

function order(group: Group): (a: ServerView, b: ServerView) => number {
  const byName = (a: ServerView, b: ServerView) => a.name.localeCompare(b.name);
  if (group !== "needs-you") return byName;
  const severe = (server: ServerView) => severity[server.state] ?? (server.last_failure ? 1 : signInNeed(server) ? 2 : 9);
  return (a, b) => severe(a) - severe(b) || byName(a, b);
}

/** Where each server stands now, to be kept while somebody points into the list. */
export function standings(servers: ServerView[]): ReadonlyMap<string, Group> {
  return new Map(servers.map((server) => [server.name, groupOf(server)]));
}

/** Does the text occur in the name, the title or what runs? */
export function matches(server: ServerView, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [server.name, server.title ?? "", server.runs].some((part) => part.toLowerCase().includes(wanted));
}

export const needsYou = (servers: ServerView[]) => servers.filter((server) => groupOf(server) === "needs-you").length;
/** How many run, whatever else is to be said of them. */
export const awake = (servers: ServerView[]) => servers.filter(({ state }) => state === "starting" || state === "ready").length;
