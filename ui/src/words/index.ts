// The words of the chosen language. `words` always is the chosen one; a component reads it when it is made.
import { speakFigures } from "../lib/fmt";
import { de } from "./de";
import { en, type Words } from "./en";

export type { Words } from "./en";
export let words: Words = en;
/** The language of texts that come from elsewhere in several. */
export let spoken = "en";

const known: Record<string, Words> = { en, de };

/** Speaks this language from now on. */
export function speak(language: string, other?: Words): void {
  spoken = language;
  words = other ?? known[language] ?? en;
  speakFigures(language);
}

/** A text that comes in several languages. */
export const inWords = (texts: Record<string, string>) => texts[spoken] ?? texts.en ?? Object.values(texts)[0] ?? "";
