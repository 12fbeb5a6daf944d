// The list as it is drawn: a head for each session, then its calls, newest first; equal ones in a row are one. Pure.
import type { CallLine, SessionLine } from "../lib/hub/generated";

export type Line =
  | { kind: "session"; id: number; client: string; session: SessionLine | undefined; calls: number; last: number }
  | { kind: "call"; call: CallLine; times: number };

/** Did it go as asked? */
export const worked = (call: CallLine) => call.outcome === "ok";

/** Does a call say this somewhere? */
export function says(call: CallLine, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [call.tool, call.server, call.client, call.argument ?? "", call.message ?? ""].some((part) => part.toLowerCase().includes(wanted));
}

export function lines(calls: CallLine[], sessions: ReadonlyMap<number, SessionLine>): Line[] {
  const groups = new Map<number, CallLine[]>();
  // They are recorded in the order of their ends, and show when they began.
  const begun = [...calls].sort((one, other) => other.time_ms - one.time_ms || other.id - one.id);
  for (const call of begun) {
    const group = groups.get(call.session);
    if (group) group.push(call);
    else groups.set(call.session, [call]);
  }
  const drawn: Line[] = [];
  for (const [id, group] of groups) {
    const first = group[0]!;
    drawn.push({ kind: "session", id, client: first.client, session: sessions.get(id), calls: group.length, last: first.time_ms });
    for (const call of group) {
      const before = drawn.at(-1);
      const same = before?.kind === "call" && call.kind !== "script" && worked(call) && worked(before.call) && call.kind === before.call.kind;
      if (same && before.call.tool === call.tool && before.call.server === call.server && before.call.argument === call.argument) before.times++;
      else drawn.push({ kind: "call", call, times: 1 });
    }
  }
  return drawn;
}
