// Cmd on a Mac, Ctrl elsewhere.
import { words } from "../words";

const mac = navigator.platform.startsWith("Mac");

export const isCommandKey = (event: KeyboardEvent) => (mac ? event.metaKey : event.ctrlKey) && !event.altKey;
export const shortcut = (key: string) => (mac ? `⌘${key}` : `${words.shortcuts.keys.ctrl} ${key}`);

/** Is somebody writing, or is something open over the screen? */
export const isBusy = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || document.querySelector("dialog[open]") !== null;

/** Does nothing have the focus, because what had it is gone? */
export const isFocusLost = () => (document.activeElement ?? document.body) === document.body && document.querySelector("dialog[open]") === null;
