// The real hub, through Tauri. The only file that imports @tauri-apps/api.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";

import type { Ask, HubState, PageEvent, PageTold, ServerIcons } from "./generated";
import type { Hub, PageSide, Prompts } from "./hub";

export const hub: Hub = {
  state: () => invoke("hub_state"),
  onState: (heard) => listen<HubState>("hub-state", (event) => heard(event.payload)),
  onGo: (heard) => onWanted<string | null>("go", "wanted_place", (place) => place !== null && heard(place)),
  onClosing: (heard) => onWanted<boolean>("closing", "wanted_closing", (closing) => closing && heard()),
  closeWindow: () => invoke("close_window"),
  questionInPage: (id, shown) => invoke("question_in_page", { id, shown }),
  ask: (request) => invoke("request", { request }),
  about: () => invoke("about"),
  startsAtLogin: () => invoke("starts_at_login"),
  setStartsAtLogin: (on) => invoke("set_starts_at_login", { on }),
  choices: () => invoke("choices"),
  choose: (choices) => invoke("choose", { choices }),
  updates: () => invoke("updates"),
  lookForUpdate: () => invoke("look_for_update"),
  installUpdate: () => invoke("install_update"),
  wasRenewed: () => invoke("was_renewed"),
  copy: (text) => invoke("copy", { text }),
  openPage: (page) => invoke("open_page", { page }),
  showPage: (server, uri) => invoke("show_page", { server, uri }),
  onPage: (heard) => listen<PageEvent>("page-said", (event) => heard(event.payload)),
  tellPage: (id, told) => invoke("tell_page", { id, told }),
  closePage: (id) => invoke("close_page", { id }),
  raise: (page) => invoke("raise", { page }),
  openPageLink: (id, address) => invoke("open_page_link", { id, address }),
  openPlace: (place) => invoke("open_place", { place }),
  chooseFile: (wanted) => invoke("choose_file", { wanted }),
  tryAgain: () => invoke("try_again"),
  quit: () => invoke("quit"),
};

/** The app keeps what it wants until a page asks for it, so that one that is just loading does not miss it. */
async function onWanted<Wanted>(event: string, command: string, heard: (wanted: Wanted) => unknown) {
  const ask = async () => heard(await invoke<Wanted>(command));
  const stop = await listen(event, () => void ask());
  await ask();
  return stop;
}

/** The same hub, as far as the window of questions reaches it. */
export const prompts: Prompts = {
  asks: () => invoke("asks"),
  onAsks: (heard) => listen<Ask[]>("asks", (event) => heard(event.payload)),
  answer: (request) => invoke("answer", { request }),
  fit: (height) => void invoke("fit", { height }),
  pictures: async () => (await invoke<ServerIcons>("pictures")).icons,
};

/** And as far as the window of a server's own page reaches it. */
export const pageSide: PageSide = {
  shown: () => invoke("page_shown"),
  onTold: (heard) => listen<PageTold>("page-told", (event) => heard(event.payload)),
  says: (said) => invoke("page_says", { said }),
  fit: (height) => void invoke("fit_page", { height }),
};
