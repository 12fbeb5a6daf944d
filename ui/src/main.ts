// Starts the window.
import { mount } from "svelte";

import App from "./App.svelte";
import type { Hub } from "./lib/hub/hub";
import "./style/fonts.css";
import "./style/tokens.css";
import "./style/base.css";

/** In a browser without Tauri, while developing: /?scene=NAME shows that state of an invented hub. */
async function invented(): Promise<Hub> {
  const [{ fakeHub }, { scenes }] = await Promise.all([import("./lib/hub/fake"), import("./lib/hub/scenes")]);
  const scene = scenes[new URLSearchParams(location.search).get("scene") ?? "usual"];
  return fakeHub(scene?.() ?? { hub: "opening" });
}

const hub =
  import.meta.env.DEV && !("__TAURI_INTERNALS__" in window) ? await invented() : (await import("./lib/hub/client")).hub;
// Text that was measured before its letters came would stay where the other letters had put it.
await document.fonts.load('13px "Inter Variable"').catch(() => undefined);
mount(App, { target: document.getElementById("window")!, props: { hub } });
