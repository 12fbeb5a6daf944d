// What came of starting a server again to try its credentials. Pure.
import type { ServerView } from "../lib/hub/generated";
import { capital } from "../lib/refusal";
import { words } from "../words";

export type Outcome = "waiting" | "worked" | { why: string };

/** What the server wrote begins as it wrote it. */
function reason(failure: Parameters<typeof words.cause>[0]): string {
  const quoted = failure.cause?.kind === "exited" && failure.cause.wrote !== null;
  return quoted ? words.cause(failure) : capital(words.cause(failure));
}

/** `starts` is how often it had been started before. */
export function outcome(server: ServerView, starts: number): Outcome {
  switch (server.state) {
    case "ready":
      return server.starts > starts || server.place === "hosted" ? "worked" : "waiting";
    case "backing_off":
    case "broken":
    case "invalid":
      return { why: reason(server) };
    case "needs_credential":
      return { why: server.message ? reason(server) : words.state.needs(server.names) };
    case "needs_sign_in":
      return { why: words.state.signIn.needs_sign_in };
    case "asleep":
      return server.last_failure ? { why: reason(server.last_failure) } : server.starts > starts ? "worked" : "waiting";
    case "starting":
    case "stopping":
    case "off":
      return "waiting";
  }
}
