// The words of the chosen language. `words` always is the chosen one; a component reads it when it is made.
import { speakFigures } from "../lib/fmt";
import type { Words } from "./en";

export type { Words } from "./en";
/** There from the first `speak` on, which comes before anything is drawn. */
export let words: Words;
/** The language of texts that come from elsewhere in several. */
export let spoken = "en";

/** In milliseconds; by then the window has been drawn. */
const AFTER_OPENING = 1000;

// Each is a file of its own, so that the window reads one.
const kept: Record<string, () => Promise<Words>> = {
  en: () => import("./en").then(({ en }) => en),
  de: () => import("./de").then(({ de }) => de),
};
const here: Record<string, Words> = {};

/** Fetches the words of a language: English for one that is not known. */
export async function fetchWords(language: string): Promise<void> {
  here[language] ??= await (kept[language] ?? kept.en!)();
}

/** Speaks this language from now on; its words have been fetched, or are given. */
export function speak(language: string, other?: Words): void {
  spoken = language;
  words = other ?? here[language] ?? words;
  const { rest } = words;
  setTimeout(() => void rest(), AFTER_OPENING);
  speakFigures(language);
}

/** A text that comes in several languages. */
export const inWords = (texts: Record<string, string>) => texts[spoken] ?? texts.en ?? Object.values(texts)[0] ?? "";
