// Patterns of schemas run in a worker, which is ended when it takes too long.
import { afterEach, expect, test, vi } from "vitest";

import { judge, patience } from "./patterns";

/** A worker as the window has it: `answers` of the pairs it gets are answered, and then it hangs. */
function workers(answers: number) {
  const made: { ended: boolean }[] = [];
  class Stub {
    ended = false;
    onmessage: ((event: { data: unknown }) => void) | undefined;
    constructor() {
      made.push(this);
    }
    postMessage(pairs: { pattern: string; text: string }[]) {
      pairs.slice(0, answers).forEach(({ pattern, text }, at) => queueMicrotask(() => this.onmessage?.({ data: { at, matches: new RegExp(pattern, "u").test(text) } })));
    }
    terminate() {
      this.ended = true;
    }
  }
  vi.stubGlobal("Worker", Stub);
  return made;
}
afterEach(() => {
  vi.unstubAllGlobals();
  patience.ms = 400;
});

test("a pattern is judged in the worker, and the worker ends", async () => {
  const made = workers(2);
  const matches = await judge([{ pattern: "^a", text: "abc" }, { pattern: "^a", text: "xyz" }]);
  expect([matches("^a", "abc"), matches("^a", "xyz"), matches("^b", "abc")]).toEqual([true, false, undefined]);
  expect(made.map(({ ended }) => ended)).toEqual([true]);
});

test("one that does not end is ended, and what it did not judge is unknown", async () => {
  patience.ms = 5;
  const made = workers(1);
  const matches = await judge([{ pattern: "^a", text: "xyz" }, { pattern: "^(a+)+$", text: "aaa!" }]);
  expect([matches("^a", "xyz"), matches("^(a+)+$", "aaa!")]).toEqual([false, undefined]);
  expect(made.map(({ ended }) => ended)).toEqual([true]);
});

test("nothing is started where there is no pattern", async () => {
  const made = workers(0);
  expect((await judge([]))("a", "a")).toBeUndefined();
  expect(made).toEqual([]);
});
