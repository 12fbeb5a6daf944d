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

/** Which row of a list this key leads to from `here`; nothing where it leads nowhere. In a grid, `columns` lie beside each other. */
export function rowFor(event: KeyboardEvent, here: number, count: number, columns?: number): number | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return undefined;
  const across = columns ?? 1;
  const page = 12 * across;
  const moves: Record<string, number> = { ArrowDown: here + across, ArrowUp: here - across, PageDown: here + page, PageUp: here - page, Home: 0, End: count - 1 };
  const onward = document.documentElement.dir === "rtl" ? -1 : 1;
  if (columns !== undefined) Object.assign(moves, { ArrowRight: here + onward, ArrowLeft: here - onward });
  const to = moves[event.key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}
