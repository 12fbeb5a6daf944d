// The apps on this computer, and what may be done to their settings. Read when the window is opened, when it comes to
// the front again, and after every change of ours; never by the clock.
import type { Refusal } from "./hub/bindings";
import type { KnownClients, ProposedWish, Surface } from "./hub/proposed";
import type { HubView } from "./hub/state.svelte";

export class Clients {
  known = $state.raw<KnownClients>();
  /** Has the hub answered, with whatever? */
  told = $state(false);
  refusal = $state.raw<Refusal>();
  #view: HubView;

  constructor(view: HubView) {
    this.#view = view;
    // Every snapshot is a new state; whether the hub is open changes seldom.
    const open = $derived(view.state.hub === "open");
    $effect(() => {
      if (!open) return;
      const look = () => void this.look();
      look();
      addEventListener("focus", look);
      return () => removeEventListener("focus", look);
    });
  }

  async look(): Promise<void> {
    const done = await this.#view.wish<KnownClients>({ do: "clients" });
    this.told = true;
    this.refusal = "refusal" in done ? done.refusal : undefined;
    if ("answer" in done) this.known = done.answer;
  }

  connect = (client: string) => this.#change({ do: "connect_client", client });
  undo = (client: string) => this.#change({ do: "undo_connect", client });

  setSurface = (client: string, surface: Surface) => this.#change({ do: "set_surface", client, surface });
  setHidden = (client: string, path: string, hidden: boolean) => this.#change({ do: "set_hidden", client, path, hidden });
  /** Takes the servers over that the app starts by itself, and out of its settings. */
  moveIn = (client: string) => this.#change({ do: "move_in", client });
  /** Takes the last such change back. */
  moveBack = () => this.#change({ do: "move_back" });

  async #change(wish: ProposedWish): Promise<Refusal | undefined> {
    const done = await this.#view.wish(wish);
    await this.look();
    return "refusal" in done ? done.refusal : undefined;
  }
}
