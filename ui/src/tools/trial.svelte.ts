// Something that a person tries: how it gets on, what came of it. Kept while the window is open, so that whoever comes back
// to a tool finds it as it was left; a call goes on meanwhile.
import type { Refusal, Tried, TryProgress } from "../lib/hub/generated";
import type { HubView } from "../lib/hub/state.svelte";
import { keep, kept } from "../lib/draft";
import { leave } from "../lib/leaving";
import { isFields, parse, print, type Json } from "./json";

/** How long to wait where the hub does not know a call yet. */
const AGAIN = 300;

/** A name for a call that no other call under way has. */
export const newRun = () => `${Date.now()}-${Math.random()}`;

export abstract class Attempt<Came extends { took_ms: number }> {
  /** The JSON text while it is invalid. */
  draft = $state<string>();
  /** The call in progress, and its start. */
  under = $state.raw<{ run: string; since: number }>();
  progress = $state.raw<TryProgress>();
  refusal = $state.raw<Refusal>();
  tried = $state.raw<Came & { since: number }>();
  protected readonly view: HubView;

  constructor(view: HubView) {
    this.view = view;
  }

  /** Is everything there that it needs? */
  protected abstract get whole(): boolean;
  protected abstract begin(run: string): Promise<{ answer: Came } | { refusal: Refusal }>;

  get runs(): boolean {
    return this.draft === undefined && this.whole && this.under === undefined;
  }

  async run(): Promise<void> {
    if (!this.runs) return;
    const [run, since] = [newRun(), Date.now()];
    this.under = { run, since };
    // The result before it may be shown on a page of the server's.
    const ended = leave();
    if (ended) await ended;
    this.progress = this.refusal = this.tried = undefined;
    const asked = this.begin(run);
    void this.#follow(run);
    const done = await asked;
    this.under = undefined;
    if ("refusal" in done) this.refusal = done.refusal;
    else this.tried = { ...done.answer, since };
  }

  cancel(): void {
    if (this.under) void this.view.ask({ do: "cancel_try", run: this.under.run });
  }

  async #follow(run: string): Promise<void> {
    const isUnder = () => this.under?.run === run;
    let seen = 0;
    while (isUnder()) {
      const done = await this.view.ask({ do: "follow_try", run, seen });
      if (!isUnder()) return;
      if ("refusal" in done || done.answer.over) await new Promise((done) => setTimeout(done, AGAIN));
      else {
        ({ seen } = done.answer);
        if (seen > 0) this.progress = done.answer;
      }
    }
  }
}

/** One tool, with its arguments. */
export class Trial extends Attempt<Tried> {
  value = $state.raw<Json>({});
  /** The arguments sent last. */
  sent = $state.raw<Json>({});
  readonly toolPath: string;

  constructor(view: HubView, toolPath: string, value: Json) {
    super(view);
    this.toolPath = toolPath;
    this.value = value;
  }

  /** Keeps what was filled in beyond the end of the page. */
  fill(value: Json): void {
    this.value = value;
    keep(`tool ${this.toolPath}`, print(value, 0));
  }

  protected get whole() {
    return isFields(this.value);
  }

  protected begin(run: string) {
    this.sent = this.value;
    return this.view.ask({ do: "try_tool", run, tool_path: this.toolPath, arguments: print(this.value, 0) });
  }
}

/** So many are remembered of each kind. */
const KEPT = 20;

/** The state kept for each hub, by name. */
export class Remembered<One extends { under: unknown }> {
  readonly #all = new WeakMap<HubView, Map<string, One>>();

  all = (view: HubView): One[] => [...(this.#all.get(view)?.values() ?? [])];

  /** As it was left, under this name; or a new one. */
  of(view: HubView, name: string, make: () => One): One {
    const all = this.#all.get(view) ?? new Map<string, One>();
    this.#all.set(view, all);
    const known = all.get(name) ?? make();
    all.delete(name);
    all.set(name, known);
    for (const old of [...all.keys()].slice(0, -KEPT)) if (!all.get(old)?.under) all.delete(old);
    return known;
  }
}

const trials = new Remembered<Trial>();

/** Is this tool tried on a page of its own at the moment? */
export const isUnder = (view: HubView, toolPath: string): boolean => trials.all(view).some((trial) => trial.toolPath === toolPath && trial.under !== undefined);

/** The trial of a tool as it was left, under this name; or a new one. */
export const trialOf = (view: HubView, name: string, toolPath: string, start: () => Json): Trial => trials.of(view, name, () => new Trial(view, toolPath, (name === toolPath ? draftOf(toolPath) : undefined) ?? start()));

function draftOf(toolPath: string): Json | undefined {
  const text = kept(`tool ${toolPath}`);
  try {
    return text === undefined ? undefined : parse(text);
  } catch {
    return undefined;
  }
}
