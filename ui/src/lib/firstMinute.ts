// When the first minute opens by itself, and until when it is offered again.
import { hasEntry } from "../clients/standing";
import type { KnownClient, Snapshot } from "./hub/generated";

const KEY = "first-minute";

/** Opens it at the first start, once: nothing was set up yet but the server that Satchel brings along. */
export function opensByItself(snapshot: Snapshot): boolean {
  const [only, ...others] = snapshot.servers;
  const isFirst = localStorage.getItem(KEY) === null && snapshot.clients.length === 0 && only?.name === "toolbox" && others.length === 0;
  if (isFirst) localStorage.setItem(KEY, "shown");
  return isFirst;
}

/** Is it offered? Where it was shown, nothing is connected, and nobody closed the offer. */
export function isOffered(snapshot: Snapshot, known: KnownClient[] | undefined): boolean {
  return localStorage.getItem(KEY) === "shown" && snapshot.clients.length === 0 && known !== undefined && !known.some(hasEntry);
}

/** It is not offered any more; the palette and the settings still open it. */
export function closeOffer(): void {
  localStorage.setItem(KEY, "closed");
}
