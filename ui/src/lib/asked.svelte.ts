// An answer of the hub that a screen shows: asked again when what it depends on changes, and the last one stays in
// view meanwhile. Unknown is a value: before the first answer there is none.
import { untrack } from "svelte";
import type { Answer, Refusal, Request } from "./hub/generated";
import { useHub } from "./hub/state.svelte";

export class Asked<Question extends Request> {
  answer = $state.raw<Answer<Question>>();
  refusal = $state.raw<Refusal>();
  /** Is a question under way? */
  asking = $state(false);
  #again = $state(0);
  #waiting: (() => void)[] = [];

  /** `request` names everything the answer depends on; `undefined` asks nothing. `mark` makes it ask again. */
  constructor(request: () => Question | undefined, mark: () => unknown = () => undefined) {
    const view = useHub();
    // By value: a new snapshot that says the same asks nothing.
    const key = $derived(JSON.stringify([request() ?? null, mark() ?? null]));
    $effect(() => {
      void key;
      void this.#again;
      const asked = untrack(request);
      if (!asked) {
        this.asking = false;
        return this.#told();
      }
      let late = false;
      this.asking = true;
      void view.ask(asked).then((done) => {
        if (late) return;
        this.asking = false;
        if ("refusal" in done) this.refusal = done.refusal;
        else {
          this.refusal = undefined;
          this.answer = done.answer;
        }
        this.#told();
      });
      return () => (late = true);
    });
  }

  /** Asks once more. Ends when the new answer is there. */
  again(): Promise<void> {
    this.#again++;
    return new Promise((done) => this.#waiting.push(done));
  }

  #told(): void {
    for (const done of this.#waiting.splice(0)) done();
  }
}
