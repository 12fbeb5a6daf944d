import { expect, test } from "vitest";
import { ago, clock, memory, rough, speakFigures, tenths, time } from "./fmt";

test.each([
  [0, "0"],
  [655, "655"],
  [4118, "4.1 k"],
  [9949, "9.9 k"],
  [9950, "10 k"],
  [83_214, "83 k"],
  [999_499, "999 k"],
  [1_261_704, "1.3 M"],
])("%i is roughly %s", (value, words) => expect(rough(value)).toBe(words));

test.each([
  [134_000, "2:14"],
  [9_400, "0:09"],
  [-3_000, "0:00"],
])("%i ms on the clock is %s", (ms, words) => expect(clock(ms)).toBe(words));

test.each([
  [340, "340 ms"],
  [1_900, "1.9 s"],
  [6_000, "6 s"],
  [60_000, "1 min"],
  [90_000, "90 s"],
  [180_000, "3 min"],
  [7_200_000, "2 h"],
])("%i ms take %s", (ms, words) => expect(time(ms)).toBe(words));

test.each([
  [340_000, "340 kB"],
  [84_400_000, "84 MB"],
  [999_600_000, "1 GB"],
  [1_340_000_000, "1.3 GB"],
])("%d bytes are %s", (bytes, shown) => expect(memory(bytes)).toBe(shown));

test.each([
  [18_400, "18 s ago", "vor 18 s"],
  [180_000, "3 min ago", "vor 3 min"],
  [7_200_000, "2 h ago", "vor 2 h"],
  [172_800_000, "2 days ago", "vor 2 Tagen"],
])("%i ms ago is %s, with the units of a length of time", (ms, english, german) => {
  expect(ago(ms)).toBe(english);
  speakFigures("de");
  expect(ago(ms)).toBe(german);
  speakFigures("en");
});

test("a part of a thing has one digit", () => expect([0.863, 4, 12.34].map(tenths)).toEqual(["0.9", "4", "12.3"]));
