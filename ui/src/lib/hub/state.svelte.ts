// What the hub last said, and how to ask it. The only copy of server state in the window.
import { setContext, getContext } from "svelte";

import type { Answer, HubState, Refusal, Request } from "./generated";
import type { Hub } from "./hub";
import { asRefusal, sentences } from "../refusal";
import { SignIns } from "./signIns.svelte";

export { asRefusal };

/** Something a person did: what is said of it, how it is taken back, and what is said then. */
export interface Undoable {
  said: string;
  undo: () => Promise<Refusal | undefined>;
  undone: string;
}

export class HubView {
  /** `opening` until the hub has said anything at all. */
  state = $state.raw<HubState>({ hub: "opening" });
  snapshot = $derived(this.state.hub === "open" ? this.state.snapshot : undefined);
  /** Read aloud politely: results of the person's own actions. */
  said = $state("");
  /** What happened to the window itself, shown until it is closed. */
  told = $state("");
  /** What a person did last that can be taken back, and whether that is still offered in view. */
  undoable = $state.raw<Undoable>();
  offered = $state(false);
  #withdraw: ReturnType<typeof setTimeout> | undefined;
  readonly hub: Hub;
  readonly signIns = new SignIns(this);

  constructor(hub: Hub, go: (path: string) => void, closing: () => void) {
    this.hub = hub;
    $effect(() => {
      let told = false;
      const heard = (state: HubState) => {
        told = true;
        this.#take(state);
      };
      const stops = [hub.onState(heard), hub.onGo(go), hub.onClosing(closing)];
      // Listen first, then ask: nothing falls between. An event that came meanwhile is newer than the answer.
      void Promise.all(stops)
        .then(() => hub.state())
        .then((state) => told || this.#take(state));
      return () => stops.forEach((stop) => void stop.then((end) => end()));
    });
  }

  /** Asks the hub. A refusal comes back as a value, because every face must show it. */
  async ask<Asked extends Request>(request: Asked): Promise<{ answer: Answer<Asked> } | { refusal: Refusal }> {
    try {
      return { answer: await this.hub.ask(request) };
    } catch (cause) {
      return { refusal: asRefusal(cause) };
    }
  }

  /** Says what was done, and offers to take it back. */
  offer(undoable: Undoable): void {
    this.undoable = undoable;
    this.offered = true;
    this.say(undoable.said);
    clearTimeout(this.#withdraw);
    this.#withdraw = setTimeout(() => (this.offered = false), 10_000);
  }

  /** Takes back what was done last. */
  async takeBack(): Promise<void> {
    const undoable = this.undoable;
    this.undoable = undefined;
    this.offered = false;
    const refusal = await undoable?.undo();
    if (undoable) this.say(refusal ? sentences(refusal) : undoable.undone);
  }

  /** Takes back the hub's last steps, the last first. What stays as it was is told as a refusal. */
  async undoSteps(steps = 1): Promise<Refusal | undefined> {
    const remarks: string[] = [];
    for (let step = 0; step < steps; step++) {
      const done = await this.ask({ do: "undo" });
      if ("refusal" in done) return done.refusal;
      remarks.push(...done.answer.remarks);
    }
    return remarks.length > 0 ? { code: "unwritable", message: remarks.join(" "), action: "" } : undefined;
  }

  say(words: string): void {
    // The same words twice must be read twice.
    this.said = this.said === words ? `${words}\u00a0` : words;
  }

  // Two changes at once may arrive crossed; the older snapshot must not win.
  #take(next: HubState): void {
    const known = this.snapshot;
    if (next.hub === "open" && known && next.snapshot.version < known.version) return;
    this.state = next;
  }
}

const key = Symbol("hub");
export const provideHub = (view: HubView) => setContext(key, view);
export const useHub = () => getContext<HubView>(key);
