// Text that others wrote, so that what is read is what is there. Pure.

/** Control characters, and signs that turn or hide text, as escapes. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0\u034F\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu, (sign) =>
    sign === "\n" || sign === "\t" ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}

/** The same in one line, with every kind of space that is not a plain one written out. */
export const oneLine = (text: string) => visible(text).replace(/[\n\t]|(?! )\p{Zs}/gu, (sign) => (sign === "\n" ? "\\n" : sign === "\t" ? "\\t" : `\\u{${sign.codePointAt(0)!.toString(16)}}`));

/** A command as a person reads it: whole, and with what belongs together in quotes. */
export function commandLine(command: string, args: readonly string[]): string {
  const quoted = (word: string) => (word === "" || /[\s'"]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word);
  return [command, ...args].map((word) => quoted(oneLine(word))).join(" ");
}

/** The words of a command as the hub writes it in one line. */
export const wordsOf = (line: string) => [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map((match) => match[1]?.replace(/\\(["\\])/g, "$1") ?? match[2]!);

/** A stranger's name within a button of ours, which stays a button of ours. */
export const short = (text: string, most = 32): string => {
  const signs = [...oneLine(text)];
  return signs.length <= most ? signs.join("") : `${signs.slice(0, most - 1).join("")}…`;
};

/** With dots in place of references to credentials. */
export const masked = (text: string) => text.replace(/\$\{secret:[^}]*\}/g, "••••••••");

/** Letters of other scripts that can be taken for Latin ones. */
const twins = /[\u0430\u0435\u043E\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04BB\u0501\u051B\u0410\u0412\u0415\u041A\u041C\u041D\u041E\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u03BF\u03BD\u0391\u0392\u0395\u0396\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7\u0131\u0261\u2044\u2215\u29F8\u2010-\u2015\u2212\u2024\uFF01-\uFF5E]|[\u{1D400}-\u{1D7FF}]/gu;
/** Which of them are in there, each once, with their numbers. */
export function lookalikes(text: string): string[] {
  return [...new Set(text.match(twins) ?? [])].map((sign) => `${sign} \\u{${sign.codePointAt(0)!.toString(16)}}`);
}
