// Starts the window.
import { mount } from "svelte";

import { language } from "./lib/language.svelte";
import type { Hub } from "./lib/hub/hub";
import { words } from "./words";
import "./style/fonts.css";
import "./style/tokens.css";
import "./style/base.css";

/** In a browser without Tauri: /?scene=NAME shows that state of an invented hub. Released builds have none of it. */
async function invented(): Promise<Hub> {
  const { play } = await import("./lib/hub/scenes");
  const asked = new URLSearchParams(location.search);
  if (asked.get("dir") === "rtl") document.documentElement.dir = "rtl";
  return play(asked.get("scene") ?? "usual");
}

const fake = (import.meta.env.DEV || import.meta.env.MODE === "fake") && !("__TAURI_INTERNALS__" in window);
const hub = fake ? await invented() : (await import("./lib/hub/client")).hub;
await language.ready();
language.settle();
if (fake && new URLSearchParams(location.search).has("long")) (await import("./lib/hub/lengthen")).lengthen(words as unknown as Record<string, unknown>);
// Text that was measured before its letters came would stay where the other letters had put it.
await document.fonts.load('13px "Inter Variable"').catch(() => undefined);
const target = document.getElementById("window")!;
if (fake && location.hash.startsWith("#/prompt/")) {
  const [{ default: PromptWindow }, { examples }] = await Promise.all([import("./prompt/PromptWindow.svelte"), import("./prompt/examples")]);
  mount(PromptWindow, { target, props: { prompt: examples[location.hash.slice(9)] ?? examples.confirm!, answer: () => target.replaceChildren() } });
} else if (!fake && location.hash === "#/ask") {
  // The window of questions: small, by itself, and all that it may do is answer.
  const [{ default: Asked }, { prompts }] = await Promise.all([import("./prompt/Asked.svelte"), import("./lib/hub/client")]);
  mount(Asked, { target, props: { prompts } });
} else if (!fake && location.hash === "#/page") {
  // The window of a server's own page: frames it, and passes its messages on.
  const [{ default: PageWindow }, { pageSide }] = await Promise.all([import("./tools/PageWindow.svelte"), import("./lib/hub/client")]);
  mount(PageWindow, { target, props: { side: pageSide } });
} else mount((await import("./Root.svelte")).default, { target, props: { hub } });
