// One sentence and one shape for each state, as the list and the pane show them.
import type { ServerView } from "../lib/hub/generated";
import { about, ago, clock, shortTime, time } from "../lib/fmt";
import { words } from "../words";
import { isLocked } from "./locked";
import { signInNeed } from "./signIn";

export type Glyph = "off" | "asleep" | "hosted" | "spinner" | "ring" | "octagon" | "key" | "shield";
export type Tone = "plain" | "ok" | "accent" | "warn" | "bad";

export interface Sentence {
  /** What is read; may count down by the minute. */
  text: string;
  /** What is read aloud: the same without the countdown, so that it is not said every second. */
  spoken: string;
  glyph: Glyph;
  tone: Tone;
  /** For `ring`: how much of the idle time is left, 0 to 1. */
  left: number;
  /** What a person can do about it right in the row. */
  action?: string;
  /** What that does; else it leads to the pane. */
  does?: "sign_in" | "cancel_sign_in";
}

/** A secret named after its server goes by the rest: the variable or header that it was found in. */
const withoutServer = (name: string, server: string) => (name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name);

const away: ReadonlySet<string> = new Set(["dns", "unreachable", "offline", "tls"]);

export function sentence(server: ServerView, now: number): Sentence {
  const say = (text: string, glyph: Glyph, tone: Tone, more: Partial<Sentence> = {}): Sentence => ({
    text,
    spoken: text,
    glyph,
    tone,
    left: 1,
    ...more,
  });
  const w = words.state;
  const need = signInNeed(server);
  if (need === "signing_in") {
    return say(w.signIn[need], "spinner", "accent", { action: words.action.signIn[need], does: "cancel_sign_in" });
  }
  // Nothing else can be done about it before, and a failure may be one of the entry that was there before.
  if (server.enabled && server.not_started) {
    return say(w.notStarted[server.not_started], "shield", "warn", { action: words.action.review });
  }
  // What is wrong with it comes before what is to be looked at.
  const failure = server.last_failure;
  if (failure && (server.state === "asleep" || server.state === "ready")) {
    const what = w.failed[failure.during][server.place];
    const text = w.failedWhy(what, ago(now - failure.at_ms), words.cause(failure));
    return say(text, "octagon", "bad", { spoken: what, action: words.action.seeWhy });
  }
  if (need) {
    const more = need === "needs_client_id" ? {} : ({ does: "sign_in" } as const);
    return say(w.signIn[need], "key", "warn", { action: words.action.signIn[need], ...more });
  }
  const plain = server.state === "asleep" || server.state === "ready";
  if (plain && server.held > 0) return say(w.heldBack(server.held), "shield", "warn", { action: words.action.review });
  if (plain && server.sign_in?.sign_in === "renewal_delayed") {
    return say(w.renewalDelayed(shortTime(new Date(server.sign_in.retry_at_ms))), "hosted", "plain");
  }
  switch (server.state) {
    case "off":
      return say(w.off, "off", "plain");
    case "asleep":
      if (server.fresh) return say(w.fresh[server.place], "asleep", "plain");
      if (server.place === "hosted") return say(w.asleepHosted, "hosted", "plain");
      return say(server.wake_ms === null ? w.asleep : w.asleepWakes(time(server.wake_ms)), "asleep", "plain");
    case "starting": {
      const since = now - server.since_ms;
      const what = server.phase === "downloading" ? w.downloading : w.starting;
      const text = since < 1000 ? what : w.since(what, time(Math.floor(since / 1000) * 1000));
      return say(text, "spinner", "accent", { spoken: what });
    }
    case "ready": {
      const running = w.running[server.place];
      if (server.in_flight === 0 && server.tools === null && server.resources === null) return say(w.reading, "spinner", "accent");
      if (server.in_flight > 0) return say(w.calls(running, server.in_flight), "ring", "ok");
      if (server.sleeps_at_ms === null) return say(running, "ring", "ok");
      const rest = Math.max(0, server.sleeps_at_ms - now);
      // By the minute, as the words: what moves by itself is drawn by itself.
      const minutes = rest < 60_000 ? 0.5 : Math.round(rest / 60_000);
      const left = Math.min(1, (minutes * 60) / server.idle_timeout_seconds);
      return say(w.sleepsIn(running, about(rest)), "ring", "ok", { spoken: running, left });
    }
    case "stopping":
      return say(w.stopping, "spinner", "plain");
    case "backing_off": {
      // Only one that was ready crashes, and one that was killed had begun.
      const ended = server.code === "crashed" || server.code === "oom_killed";
      const what = server.code === "unreachable" ? w.doesNotAnswer : ended ? w.failed.run[server.place] : w.didNotStart;
      const rest = server.retry_at_ms - now;
      const text = rest > 0 ? w.tryingAgain(what, clock(rest)) : w.tryingNow(what);
      // What is out of reach comes back by itself; red is for what waits for a person.
      if (server.place === "hosted" && away.has(server.code)) return say(text, "hosted", "plain", { spoken: what, action: words.action.seeWhy });
      return say(text, "octagon", "bad", { spoken: what, action: words.action.seeWhy });
    }
    case "broken":
      // Red is for what somebody misses.
      return say(w.gaveUp(server.failures), "octagon", server.calls > 0 ? "bad" : "warn", { action: words.action.seeWhy });
    case "needs_credential":
      if (server.names.length === 0) return say(w.needsSignIn, "key", "warn", { action: words.action.seeWhy });
      if (isLocked(server.code)) return say(w.locked, "key", "warn", { action: words.action.seeWhy });
      return say(w.needs(server.names.map((name) => withoutServer(name, server.name))), "key", "warn", { action: words.action.addCredential });
    case "needs_sign_in":
      return say(w.signIn.needs_sign_in, "key", "warn", { action: words.action.seeWhy });
    case "invalid":
      return say(w.invalid, "octagon", "bad", { action: words.action.seeWhy });
  }
}
