// What must end in order before its place is taken away: a server's page that is shown, for example.
const present = new Set<() => Promise<void>>();

/** Calls `end` before anything takes its place away; the answer stops that. `end` resolves within a moment. */
export function beforeLeaving(end: () => Promise<void>): () => void {
  present.add(end);
  return () => void present.delete(end);
}

/** Lets everything end; `undefined` if there is nothing, so that nobody waits. */
export function leave(): Promise<void> | undefined {
  if (present.size === 0) return undefined;
  return Promise.all([...present].map((end) => end())).then(() => undefined);
}
