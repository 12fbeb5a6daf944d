// What a person has to do about a server's sign-in, and whether there is one.
import type { ServerView } from "../lib/hub/generated";

export type SignInNeed = "needs_sign_in" | "signing_in" | "needs_client_id" | "needs_more_rights";

/** What to do about its sign-in. One that waits to be looked at signs in nowhere before. */
export function signInNeed(server: ServerView): SignInNeed | undefined {
  if (!server.enabled || server.not_started) return undefined;
  const stands = server.sign_in?.sign_in;
  const waits = stands === "signing_in" || stands === "needs_more_rights" ? stands : undefined;
  switch (server.state) {
    case "needs_sign_in":
      return stands === "needs_client_id" ? stands : (waits ?? "needs_sign_in");
    case "asleep":
    case "starting":
    case "ready":
    case "stopping":
      return waits;
    case "off":
    case "backing_off":
    case "broken":
    case "needs_credential":
    case "invalid":
      return undefined;
  }
}

/** Is somebody signed in to it, also when a renewal is late or more is wanted? */
export function isSignedIn(server: ServerView): boolean {
  const stands = server.sign_in?.sign_in;
  return stands === "signed_in" || stands === "renewal_delayed" || stands === "needs_more_rights";
}
