// Checks texts against the patterns of schemas, which strangers wrote. They run in a worker that is ended when it takes too
// long: no form of a pattern tells how long it runs. What was not judged in time is undefined; the hub checks it again.

export interface Pair {
  pattern: string;
  text: string;
}
/** Whether a text matches; `undefined` where that is not known. */
export type Matches = (pattern: string, text: string) => boolean | undefined;

export const unknown: Matches = () => undefined;
/** For all of a form together, in milliseconds. */
export const patience = { ms: 400 };

const keyOf = (pattern: string, text: string) => JSON.stringify([pattern, text]);

export async function judge(pairs: readonly Pair[]): Promise<Matches> {
  const known = new Map<string, boolean>();
  if (pairs.length > 0 && typeof Worker !== "undefined") await ask(pairs, known);
  return (pattern, text) => known.get(keyOf(pattern, text));
}

function ask(pairs: readonly Pair[], known: Map<string, boolean>): Promise<void> {
  return new Promise((done) => {
    const worker = new Worker(new URL("./patternWorker.ts", import.meta.url), { type: "module" });
    const end = () => {
      clearTimeout(timer);
      worker.terminate();
      done();
    };
    const timer = setTimeout(end, patience.ms);
    worker.onerror = end;
    worker.onmessage = ({ data }: MessageEvent<{ at: number; matches: boolean }>) => {
      const pair = pairs[data.at];
      if (pair) known.set(keyOf(pair.pattern, pair.text), data.matches);
      if (data.at >= pairs.length - 1) end();
    };
    worker.postMessage(pairs.map(({ pattern, text }) => ({ pattern, text })));
  });
}
