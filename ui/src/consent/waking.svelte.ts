// When a yes is awake: a moment after the end of what it is about was in view, and asleep again after every change of it.

/** How long a yes sleeps, in milliseconds. */
export const pause = { ms: 800 };
/** How often it is looked whether the end has come into view. */
const look = 100;

/** Is the end within everything that scrolls around it, and not below the buttons? */
export function isInView(end: HTMLElement, cover: HTMLElement | undefined): boolean {
  const { top, bottom } = end.getBoundingClientRect();
  if (cover && bottom > cover.getBoundingClientRect().top + 1) return false;
  for (let around = end.parentElement; around; around = around.parentElement) {
    if (!/auto|scroll|hidden/.test(getComputedStyle(around).overflowY)) continue;
    const port = around.getBoundingClientRect();
    if (bottom > port.bottom + 1 || top < port.top - 1) return false;
  }
  return bottom <= innerHeight + 1 && top >= -1;
}

export class Waking {
  /** The end was in view since the content last changed. */
  seen = $state(false);
  awake = $state(false);

  /** Follows the content for as long as the effect lives that calls it. */
  follow(body: HTMLElement, end: HTMLElement, cover: () => HTMLElement | undefined, inert = pause.ms): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wake = () => (this.awake = true);
    const watch = () => {
      if (!isInView(end, cover())) {
        timer = setTimeout(watch, look);
        return;
      }
      this.seen = true;
      if (inert === 0) wake();
      else timer = setTimeout(wake, inert);
    };
    const sleep = () => {
      clearTimeout(timer);
      this.seen = this.awake = false;
      watch();
    };
    sleep();
    // Whatever changes: a sheet that is another one under the pointer is a question that was never read.
    const changes = new MutationObserver(sleep);
    changes.observe(body, { subtree: true, childList: true, characterData: true });
    return () => {
      clearTimeout(timer);
      changes.disconnect();
    };
  }
}
