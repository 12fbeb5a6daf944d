// What jsdom lacks and our components use.
import { afterEach, vi } from "vitest";

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
}

afterEach(() => {
  vi.useRealTimers();
  localStorage.clear();
  history.replaceState(null, "", location.pathname);
});
