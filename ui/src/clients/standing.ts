// The state of a client: its requests to the hub, and its settings if known. Pure.
import type { ClientView, KnownClient } from "../lib/hub/generated";
import { ago } from "../lib/fmt";
import { words } from "../words";
import { nameOf } from "./names";

export type Group = "needs-you" | "waiting" | "connected" | "found";
export const groups: readonly Group[] = ["needs-you", "waiting", "connected", "found"];

export interface Standing {
  id: string;
  name: string;
  group: Group;
  sentence: string;
  tone: "ok" | "warn" | "bad" | "plain";
  /** The state of its settings, if known. */
  known: KnownClient | undefined;
  /** Its requests, if there were any. */
  seen: ClientView | undefined;
}

/** Is it here, or has our entry? One that takes an entry from a person's hand only has the setup sheet. */
export const isShown = (client: KnownClient) => (client.installed || client.state === "added" || client.state === "connected" || client.state === "needs_you") && client.state !== "paste";

/** Has it our entry? */
export const hasEntry = (client: KnownClient) => client.state === "connected" || client.state === "added";

/** Servers that it starts by itself and has through Satchel, too. */
export const twice = (client: KnownClient | undefined) => (client && hasEntry(client) ? client.duplicates : []);

/** Can its settings not be read? */
export const isUnreadable = (client: KnownClient) => client.state === "unreadable" || (client.state === "needs_you" && client.what === "unreadable");

/** Is our entry gone from its settings? */
export const isGone = (client: KnownClient) => client.state === "needs_you" && client.what === "vanished";

/** Has our entry in its settings another address than ours? */
export const isMoved = (client: KnownClient) => client.state === "needs_you" && client.what === "moved";

/** Can it be connected, for the first time or again? */
export const isConnectable = (client: KnownClient) => !hasEntry(client) && !isUnreadable(client);

/** "Connected" is only ever said of a client whose request has arrived. */
export function standings(known: KnownClient[], seen: ClientView[], now: number): Standing[] {
  const w = words.clients;
  const heard = new Map(seen.map((client) => [client.id, client]));
  const connected = (client: ClientView) => {
    const since = ago(now - client.last_seen_ms);
    return client.last_call ? w.called(client.last_call.slice(client.last_call.indexOf(":") + 1), since) : client.requests > 0 ? w.connected(since) : w.never;
  };
  const ofSettings = (client: KnownClient): Pick<Standing, "group" | "sentence" | "tone"> => {
    const asked = heard.get(client.id);
    switch (client.state) {
      case "needs_you":
        if (isUnreadable(client)) return { group: "needs-you", sentence: w.unreadable, tone: "bad" };
        return { group: "needs-you", sentence: isGone(client) ? w.gone : isMoved(client) ? w.oldAddress : w.edited, tone: "warn" };
      case "connected":
      case "added":
        if (asked) return { group: "connected", sentence: connected(asked), tone: "ok" };
        return client.state === "connected"
          ? { group: "connected", sentence: w.unseen, tone: "ok" }
          : { group: "waiting", sentence: w.added, tone: "plain" };
      case "unreadable":
        return { group: "found", sentence: w.unreadable, tone: "warn" };
      case "not_connected":
      case "paste":
        return asked ? { group: "connected", sentence: connected(asked), tone: "ok" } : { group: "found", sentence: w.found, tone: "plain" };
    }
  };
  const named = new Set(known.map((client) => client.id));
  return [
    ...known.map((client): Standing => ({ id: client.id, name: client.name, known: client, seen: heard.get(client.id), ...ofSettings(client) })),
    ...seen
      .filter((client) => !named.has(client.id))
      .map((client): Standing => ({ id: client.id, name: nameOf(client.id), known: undefined, seen: client, group: "connected", sentence: connected(client), tone: "ok" })),
  ].sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.name.localeCompare(b.name));
}
