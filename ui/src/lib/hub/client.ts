// The real hub, through Tauri. The only file that imports @tauri-apps/api.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";

import type { HubState } from "./bindings";
import type { Hub } from "./hub";

export const hub: Hub = {
  state: () => invoke("hub_state"),
  onState: (heard) => listen<HubState>("hub-state", (event) => heard(event.payload)),
  onGo: (heard) => listen<string>("go", (event) => heard(event.payload)),
  wish: (wish) => invoke("wish", { wish }),
  about: () => invoke("about"),
  startsAtLogin: () => invoke("starts_at_login"),
  setStartsAtLogin: (on) => invoke("set_starts_at_login", { on }),
  copy: (text) => invoke("copy", { text }),
  tryAgain: () => invoke("try_again"),
  quit: () => invoke("quit"),
};
