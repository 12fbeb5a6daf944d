// One session's calls as a waterfall: what was asked one after another stands on one line of time; a pause begins a new
// one, so that a second of work is still seen in an hour of waiting. Pure.
import type { CallLine } from "../lib/hub/generated";

/** A longer pause begins a new turn, in milliseconds. */
const PAUSE = 10_000;

export type Part = "waited" | "woke" | "worked";

export interface Step {
  call: CallLine;
  /** Where it begins, and how long its parts are: shares of the turn's time. */
  from: number;
  parts: { part: Part; share: number; ms: number }[];
}

export interface Turn {
  steps: Step[];
  /** The pause before it, in milliseconds; 0 for the first. */
  pause: number;
  /** How long it took. */
  took: number;
}

/** The turns of a session's calls, which may be in any order. */
export function turns(calls: readonly CallLine[]): Turn[] {
  const inOrder = [...calls].sort((a, b) => a.time_ms - b.time_ms || a.id - b.id);
  const groups: { calls: CallLine[]; begin: number; end: number; pause: number }[] = [];
  for (const call of inOrder) {
    const last = groups.at(-1);
    const end = call.time_ms + call.took_ms;
    if (last && call.time_ms - last.end < PAUSE) {
      last.calls.push(call);
      last.end = Math.max(last.end, end);
    } else groups.push({ calls: [call], begin: call.time_ms, end, pause: last ? call.time_ms - last.end : 0 });
  }
  return groups.map(({ calls, begin, end, pause }) => {
    // Nothing takes no time at all: else a single call of 0 ms would have no place.
    const whole = Math.max(1, end - begin);
    return { steps: calls.map((call) => ({ call, from: (call.time_ms - begin) / whole, parts: parts(call, whole) })), pause, took: end - begin };
  });
}

function parts(call: CallLine, whole: number): Step["parts"] {
  const worked = Math.max(0, call.took_ms - call.waited_ms - call.woke_ms);
  const all: [Part, number][] = [["waited", call.waited_ms], ["woke", call.woke_ms], ["worked", worked]];
  return all.filter(([part, ms]) => ms >= 1 || part === "worked").map(([part, ms]) => ({ part, ms, share: ms / whole }));
}
