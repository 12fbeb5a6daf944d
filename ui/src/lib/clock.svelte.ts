// The time that is shown: moves only while the window can be seen, once a second while something is counted in seconds, and
// four times a minute otherwise.

export class Clock {
  now = $state(Date.now());

  /** `quick`: is something counted in seconds? */
  constructor(quick: () => boolean = () => true) {
    const step = $derived(quick() ? 1_000 : 15_000);
    $effect(() => {
      const tick = () => {
        if (!document.hidden) this.now = Date.now();
      };
      const timer = setInterval(tick, step);
      document.addEventListener("visibilitychange", tick);
      return () => {
        clearInterval(timer);
        document.removeEventListener("visibilitychange", tick);
      };
    });
  }
}
