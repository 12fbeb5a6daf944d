// A script that a person tries: what is written, what it is given. Kept while the window is open, as a tool that is tried is.
import type { TriedScript } from "../lib/hub/generated";
import type { HubView } from "../lib/hub/state.svelte";
import { print, type Json } from "./json";
import { Attempt, Remembered } from "./trial.svelte";

export class ScriptTrial extends Attempt<TriedScript> {
  script = $state("");
  /** The script's `input`. */
  input = $state.raw<Json | undefined>();

  constructor(view: HubView, script: string, input: Json | undefined) {
    super(view);
    this.script = script;
    this.input = input;
  }

  protected get whole() {
    return this.script.trim() !== "";
  }

  protected begin(run: string) {
    return this.view.ask({ do: "try_script", run, script: this.script, input: print(this.input ?? null, 0) });
  }
}

const scripts = new Remembered<ScriptTrial>();

/** The script as it was left under this name; or a new one. */
export const scriptOf = (view: HubView, name: string, start: () => { script: string; input: Json | undefined }): ScriptTrial =>
  scripts.of(view, name, () => {
    const { script, input } = start();
    return new ScriptTrial(view, script, input);
  });
