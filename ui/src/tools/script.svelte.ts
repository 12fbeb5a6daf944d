// A script that a person tries: what is written, how it gets on, what came of it. Kept while the window is open, as a tool that
// is tried is.
import type { Refusal, TriedScript, TryProgress } from "../lib/hub/generated";
import type { HubView } from "../lib/hub/state.svelte";
import { print, type Json } from "./json";
import { follow } from "./trial.svelte";

export class ScriptTrial {
  script = $state("");
  /** What the script is given as `input`. */
  input = $state.raw<Json | undefined>();
  /** What is written as input and is no JSON yet. */
  draft = $state<string>();
  under = $state.raw<{ run: string; since: number }>();
  progress = $state.raw<TryProgress>();
  refusal = $state.raw<Refusal>();
  tried = $state.raw<TriedScript & { since: number }>();
  readonly #view: HubView;

  constructor(view: HubView, script: string, input: Json | undefined) {
    this.#view = view;
    this.script = script;
    this.input = input;
  }

  get runs(): boolean {
    return this.draft === undefined && this.script.trim() !== "" && this.under === undefined;
  }

  async run(): Promise<void> {
    if (!this.runs) return;
    const [run, since] = [`${Date.now()}-${Math.random()}`, Date.now()];
    this.under = { run, since };
    this.progress = this.refusal = this.tried = undefined;
    const asked = this.#view.ask({ do: "try_script", run, script: this.script, input: print(this.input ?? null, 0) });
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

/** So many scripts are remembered. */
const KEPT = 20;
const kept = new WeakMap<HubView, Map<string, ScriptTrial>>();

/** The script as it was left under this name; or a new one. */
export function scriptOf(view: HubView, name: string, start: () => { script: string; input: Json | undefined }): ScriptTrial {
  const all = kept.get(view) ?? new Map<string, ScriptTrial>();
  kept.set(view, all);
  const known = all.get(name);
  const { script, input } = known ?? start();
  const trial = known ?? new ScriptTrial(view, script, input);
  all.delete(name);
  all.set(name, trial);
  for (const old of [...all.keys()].slice(0, -KEPT)) if (!all.get(old)?.under) all.delete(old);
  return trial;
}
