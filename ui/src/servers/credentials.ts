// What came of starting a server again to try its credentials. Pure.
import type { ServerView } from "../lib/hub/generated";
import { capital } from "../lib/refusal";
import { words } from "../words";

export type Outcome = "waiting" | "worked" | { why: string };

/** `starts` is how often it had been started before. */
export function outcome(server: ServerView, starts: number): Outcome {
  switch (server.state) {
    case "ready":
      return server.starts > starts || server.place === "hosted" ? "worked" : "waiting";
    case "backing_off":
    case "broken":
    case "invalid":
      return { why: capital(words.cause(server)) };
    case "needs_credential":
    case "needs_sign_in":
      return { why: capital(server.message ? words.cause(server) : server.state) };
    case "asleep":
      return server.last_failure ? { why: capital(words.cause(server.last_failure)) } : server.starts > starts ? "worked" : "waiting";
    case "starting":
    case "stopping":
    case "off":
      return "waiting";
  }
}
