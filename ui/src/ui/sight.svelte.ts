// What can be seen of something long that scrolls within something else, in pixels from its own top.
import { untrack } from "svelte";

/** Beyond the edges, so that a quick scroll does not show bare ground. */
const spare = 400;

export class Sight {
  from = $state(-spare);
  to = $state(800 + spare);

  /** Follows this element for as long as the effect lives that calls it. */
  follow(element: HTMLElement): () => void {
    let port: HTMLElement | null = element.parentElement;
    while (port && !/auto|scroll/.test(getComputedStyle(port).overflowY)) port = port.parentElement;
    const scroller = port ?? document.documentElement;
    const look = () => {
      const past = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top;
      // In steps, so that not every pixel draws anew.
      const from = Math.floor((past - spare) / 100) * 100;
      this.from = from;
      this.to = from + (scroller.clientHeight || 800) + 2 * spare + 100;
    };
    untrack(look);
    scroller.addEventListener("scroll", look, { passive: true });
    const sizes = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(look);
    sizes?.observe(scroller);
    sizes?.observe(element);
    // What grows or shrinks above it moves it, and nothing of its own has another size then.
    for (const beside of scroller.children) sizes?.observe(beside);
    const meets = typeof IntersectionObserver === "undefined" ? undefined : new IntersectionObserver(look, { root: port, rootMargin: `${spare}px`, threshold: [0, 0.25, 0.5, 0.75, 1] });
    meets?.observe(element);
    return () => {
      scroller.removeEventListener("scroll", look);
      sizes?.disconnect();
      meets?.disconnect();
    };
  }

  /** Whether the element is within the visible area. */
  sees(top: number, height: number): boolean {
    return top + height >= this.from && top <= this.to;
  }
}
