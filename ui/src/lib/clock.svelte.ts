// The time for countdowns: moves once a second, and only while the window can be seen.

export class Clock {
  now = $state(Date.now());

  constructor() {
    $effect(() => {
      const tick = () => {
        if (!document.hidden) this.now = Date.now();
      };
      const timer = setInterval(tick, 1000);
      document.addEventListener("visibilitychange", tick);
      return () => {
        clearInterval(timer);
        document.removeEventListener("visibilitychange", tick);
      };
    });
  }
}
