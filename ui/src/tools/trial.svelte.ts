// A tool that a person tries: what is written, how the call gets on, what came of it. Kept while the window is open, so that
// whoever comes back to a tool finds it as it was left; a call goes on meanwhile.
import type { Refusal, Tried, TryProgress } from "../lib/hub/generated";
import type { HubView } from "../lib/hub/state.svelte";
import { isFields, print, type Json } from "./json";

/** As which client the hub has these calls made. */
export const WINDOW = "Satchel window";
/** How long to wait where the hub does not know a call yet. */
const AGAIN = 300;

export class Trial {
  /** The arguments. */
  value = $state.raw<Json>({});
  /** What is written as JSON and is none yet. */
  draft = $state<string>();
  /** What is under way, and since when. */
  under = $state.raw<{ run: string; since: number }>();
  progress = $state.raw<TryProgress>();
  refusal = $state.raw<Refusal>();
  tried = $state.raw<Tried & { since: number }>();
  readonly #view: HubView;
  readonly #toolPath: string;

  constructor(view: HubView, toolPath: string, value: Json) {
    this.#view = view;
    this.#toolPath = toolPath;
    this.value = value;
  }

  get runs(): boolean {
    return this.draft === undefined && isFields(this.value) && this.under === undefined;
  }

  async run(): Promise<void> {
    if (!this.runs) return;
    const [run, since] = [`${Date.now()}-${Math.random()}`, Date.now()];
    this.under = { run, since };
    this.progress = this.refusal = this.tried = undefined;
    const asked = this.#view.ask({ do: "try_tool", run, tool_path: this.#toolPath, arguments: print(this.value, 0) });
    void follow(this.#view, run, () => this.under?.run === run, (progress) => (this.progress = progress));
    const done = await asked;
    this.under = undefined;
    if ("refusal" in done) this.refusal = done.refusal;
    else this.tried = { ...done.answer, since };
  }

  cancel(): void {
    if (this.under) void this.#view.ask({ do: "cancel_try", run: this.under.run });
  }
}

/** Tells how a call gets on while it is under way. */
export async function follow(view: HubView, run: string, isUnder: () => boolean, tell: (progress: TryProgress) => void): Promise<void> {
  let seen = 0;
  while (isUnder()) {
    const done = await view.ask({ do: "follow_try", run, seen });
    if (!isUnder()) return;
    if ("refusal" in done || done.answer.over) await new Promise((done) => setTimeout(done, AGAIN));
    else {
      ({ seen } = done.answer);
      if (seen > 0) tell(done.answer);
    }
  }
}

/** So many tools are remembered. */
const KEPT = 20;
const kept = new WeakMap<HubView, Map<string, Trial>>();

/** The trial of a tool as it was left, under this name; or a new one. */
export function trialOf(view: HubView, name: string, toolPath: string, start: () => Json): Trial {
  const all = kept.get(view) ?? new Map<string, Trial>();
  kept.set(view, all);
  const known = all.get(name) ?? new Trial(view, toolPath, start());
  all.delete(name);
  all.set(name, known);
  for (const old of [...all.keys()].slice(0, -KEPT)) if (!all.get(old)?.under) all.delete(old);
  return known;
}
