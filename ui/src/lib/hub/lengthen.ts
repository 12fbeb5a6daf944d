// Words as long as the longest languages make them: 40 % more of every text, to see what still fits.

const longer = (text: string) => (text.trim() ? `${text} ${"lorem ipsum dolor sit amet ".repeat(20).slice(0, Math.ceil(text.length * 0.4))}`.trimEnd() : text);

/** Lengthens every text of a catalogue of words, in place. */
export function lengthen(words: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(words)) {
    if (typeof value === "string") words[name] = longer(value);
    else if (typeof value === "function")
      words[name] = (...gaps: unknown[]) => {
        const said = (value as (...gaps: unknown[]) => unknown)(...gaps);
        return typeof said === "string" ? longer(said) : said;
      };
    else if (typeof value === "object" && value !== null) lengthen(value as Record<string, unknown>);
  }
}
