// Scales of the day chart. Pure.
import type { ReportLine } from "../lib/hub/generated";

/** Round values from 0 up to at least `most`. */
export function ticks(most: number): number[] {
  const rough = Math.max(1, most) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(Math.max(1, most) / step) + 1 }, (_, at) => at * step);
}

export interface Bar {
  /** Spent by Satchel. */
  spent: number;
  /** Kept out on top of that. */
  kept: number;
  /** How much more was spent than direct connections would have loaded. */
  over: number;
}

/** A day's bar is as high as the larger of the two sides; where Satchel cost more, what it cost too much is its top. */
export function bar({ without, with: spent }: ReportLine): Bar {
  return spent > without ? { spent: without, kept: 0, over: spent - without } : { spent, kept: without - spent, over: 0 };
}
