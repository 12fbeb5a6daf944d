// What jsdom lacks and our components use.
import { configure } from "@testing-library/svelte";
import { afterEach, vi } from "vitest";

import { pause } from "./consent/waking.svelte";
import { fetchWords, speak } from "./words";

// What sleeps for a moment sleeps in the tests that are about it.
pause.ms = 0;

await fetchWords("en");
speak("en");

// Bounds against hanging, not measures: a busy machine may take its time.
configure({ asyncUtilTimeout: 60_000 });

if (typeof window !== "undefined") {
  window.matchMedia ??= ((query: string) => ({
    matches: false,
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
  })) as unknown as typeof window.matchMedia;
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
  HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
  globalThis.CSS ??= {} as typeof CSS;
  CSS.escape ??= (text: string) => text.replace(/[^\p{L}\p{N}_-]/gu, "\\$&");
  Element.prototype.scrollIntoView ??= () => {};
  window.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
}

afterEach(() => {
  vi.useRealTimers();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", location.pathname);
});
