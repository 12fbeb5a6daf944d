// The apps on this computer, and what may be done to their settings. Read when the window is opened, when it comes to
// the front again, when the screen of clients is opened, and after every change of ours; never by the clock.
import type { KnownClient, Refusal, Request, Surface } from "./hub/generated";
import type { HubView } from "./hub/state.svelte";
import { isShown } from "../clients/standing";

export class Clients {
  /** Those to show. */
  known = $state.raw<KnownClient[]>();
  /** How many were looked for. */
  looked = $state(0);
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
    const done = await this.#view.ask({ do: "list_clients" });
    this.told = true;
    this.refusal = "refusal" in done ? done.refusal : undefined;
    if (!("answer" in done)) return;
    this.looked = done.answer.clients.length;
    this.known = done.answer.clients.filter(isShown);
  }

  connect = (client: string) => this.#change({ do: "connect_client", client, dry_run: false });
  undo = (client: string) => this.#change({ do: "disconnect_client", client, dry_run: false });

  setSurface = (client: string, surface: Surface) => this.#change({ do: "set_surface", client, surface });
  setHidden = (client: string, path: string, hidden: boolean) => this.#change({ do: "set_hidden", client, path, hidden });
  setProfile = (client: string, profile: string | null) => this.#change({ do: "bind_profile", client, profile });
  /** Takes the servers over that the app starts by itself, and out of its settings. */
  moveIn = (client: string) => this.#change({ do: "import_servers", from: { client }, take_out: true });
  /** The same for those of its servers that are here under these names, and nothing else. */
  takeOut = (client: string, names: string[]) => this.#change({ do: "import_servers", from: { client }, names, take_out: true });
  /** Takes the last such change back. */
  moveBack = () => this.#change({ do: "undo" });

  async #change(request: Request): Promise<Refusal | undefined> {
    const done = await this.#view.ask(request);
    await this.look();
    return "refusal" in done ? done.refusal : undefined;
  }
}
