// Every text can be read on every surface it may stand on, and every control can be seen, in both themes.
import { describe, expect, test } from "vitest";

import tokens from "./tokens.css?raw";

type Theme = Map<string, string>;

function theme(selector: string, base?: Theme): Theme {
  const css = tokens.replace(/\/\*[^]*?\*\//g, "");
  const block = css.split(`${selector} {`)[1]!.split("}")[0]!;
  const found = [...block.matchAll(/--([\w-]+):\s*oklch\(([^)/]+)\)\s*;/g)].map(([, name, value]) => [name!, value!] as const);
  return new Map([...(base ?? []), ...found]);
}
const light = theme(":root");
const themes = { light, dark: theme('[data-theme="dark"]', light) };

/** Relative luminance of an OKLCH colour, after https://bottosson.github.io/posts/oklab/. */
function luminance(oklch: string): number {
  const [lightness = 0, chroma = 0, hue = 0] = oklch.trim().split(/\s+/).map(Number);
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const seen = (value: number) => Math.min(1, Math.max(0, value));
  const red = seen(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const green = seen(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const blue = seen(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [bright, dim] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (bright + 0.05) / (dim + 0.05);
}

const surfaces = ["bg", "surface", "raised", "sunken", "hover", "select"];
const texts: [string, string[]][] = [
  ["text", [...surfaces, "warn-soft", "bad-soft"]],
  ["text-2", [...surfaces, "warn-soft", "bad-soft"]],
  ["text-3", surfaces],
  ["accent-text", surfaces],
  ["bad-text", [...surfaces, "bad-soft"]],
  ["warn-text", ["warn-soft", "surface", "raised"]],
  ["ink-fg", ["ink", "ink-hover"]],
  ["on-bad", ["bad"]],
];
const shapes: [string, string[]][] = [
  ["control", ["bg", "surface", "raised"]],
  ["accent", ["bg", "surface", "raised", "select"]],
  ["ok", ["bg", "surface"]],
  ["bad", ["bg", "surface"]],
];

describe.each(Object.entries(themes))("%s", (_, colours) => {
  const below = (pairs: [string, string[]][], least: number) =>
    pairs.flatMap(([front, backs]) =>
      backs
        .map((back) => ({ pair: `${front} on ${back}`, ratio: contrast(colours.get(front)!, colours.get(back)!) }))
        .filter(({ ratio }) => !(ratio >= least)),
    );
  test("text has 4.5:1", () => expect(below(texts, 4.5)).toEqual([]));
  test("shapes have 3:1", () => expect(below(shapes, 3)).toEqual([]));
});
