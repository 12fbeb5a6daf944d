// Every language says everything, and says it itself.
import { afterEach, expect, test } from "vitest";
import { count, rough, time } from "../lib/fmt";
import type { Code } from "../lib/hub/generated";
import clients from "../../../crates/satchel-clients/src/table.json?raw";
import providers from "../../../crates/satchel-upstream/src/upstream/oauth/providers.json?raw";
import serving from "../../../crates/satchel-endpoint/src/serve.rs?raw";
import profiles from "../../../crates/satchel-core/src/hub/profiles.rs?raw";
import { de } from "./de";
import { en } from "./en";
import { fetchWords, speak, words } from ".";

afterEach(() => speak("en"));

/** A sentence whose gaps are filled with ones: as numbers, or as texts where it takes only those. */
function filled(sentence: (...gaps: unknown[]) => unknown): string {
  const ones = (one: unknown) => Array.from({ length: sentence.length }, () => one);
  try {
    return String(sentence(...ones(1)));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return String(sentence(...ones("1")));
  }
}

/** Every text by its place. */
function texts(value: unknown, place = ""): [string, string][] {
  if (typeof value === "string") return [[place, value]];
  if (typeof value === "function") return [[place, filled(value as (...gaps: unknown[]) => unknown)]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, `${place}.${name}`));
}
// Names, and words that are the same in both languages.
const same = /^\.(app|rest|catalog\.(title|topics)|.*[Tt]okens?$|.*route|pane\.(setup\.name|numbers\.tokens|facts\.median)|add\.(name|placeholder)|settings\.(languages|themes\.system|version)|.*(server|client|code|browser|name|start|startup|live|hub|ok|median|session|restart))/;

test("the languages have the same places", () => {
  const fillable = (words: unknown) => texts({ ...(words as object), state: undefined, action: undefined });
  expect(fillable(de).map(([place]) => place).sort()).toEqual(fillable(en).map(([place]) => place).sort());
});

test("notices that name something are told in German, with the names", () => {
  const [, port] = /"(port \{taken\}[^"]+)"/.exec(serving)!;
  expect(de.noticed({ code: "port_taken", message: port!.replace("{taken}", "7411").replace("{number}", "7412") })).toBe(
    "ein anderes Programm benutzt den Port 7411; Satchel nimmt den Port 7412",
  );
  const template = 'the active profile \\"{active}\\" cannot be used{why}; ';
  expect(profiles).toContain(template);
  const message = `${template.replaceAll("\\", "").replace("{active}", "work").replace("{why}", " (no list)")}clients see nothing`;
  expect(de.noticed({ code: "unknown_profile", message })).toBe("das aktive Profil „work“ ist nicht zu benutzen; Clients ohne eigenes Profil sehen nichts");
});

test("no German sentence was left in English", () => {
  const english = new Map(texts({ ...en, state: undefined }));
  const left = texts({ ...de, state: undefined }).filter(([place, text]) => text.includes(" ") && text.length > 14 && english.get(place) === text && !same.test(place));
  expect(left).toEqual([]);
});

test("what to do after connecting is said in both languages", () => {
  const said = [...clients.matchAll(/"afterConnect": ("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text!) as string);
  expect(said.length).toBeGreaterThan(30);
  expect(said.filter((text) => de.clients.after(text) === text || en.clients.after(text) !== text)).toEqual([]);
});

test("a fault in a client's file is said by its place, and a token to come in German", () => {
  expect(de.clients.fault("/a.json: line 1, column 17: Unterminated object")).toBe("/a.json: Zeile 1, Spalte 17");
  expect(de.clients.line('+  "Bearer sat_(made when you connect)"')).toBe('+  "Bearer sat_(entsteht beim Verbinden)"');
});

test("what to do at a provider is said in both languages", () => {
  const said = (JSON.parse(providers) as { hint: string }[]).map(({ hint }) => hint);
  expect(said.length).toBeGreaterThan(9);
  expect(said.filter((text) => de.signIn.hint(text) === text || en.signIn.hint(text) !== text)).toEqual([]);
});

test("no sentence shouts or says sorry", () => {
  for (const language of [en, de])
    expect(texts({ ...language, state: undefined }).filter(([, text]) => /!|\boops\b|successfully|erfolgreich/i.test(text))).toEqual([]);
});

test("figures follow the language", async () => {
  await fetchWords("de");
  expect([count(1234567), rough(4118), time(1900)]).toEqual(["1,234,567", "4.1 k", "1.9 s"]);
  speak("de");
  expect(words.nav.settings).toBe("Einstellungen");
  expect([count(1234567), rough(4118), time(1900)]).toEqual(["1.234.567", "4,1 Tsd.", "1,9 s"]);
  expect(count(-12)).toBe("−12");
});

const spelled = Object.values(import.meta.glob("../../../crates/*/src/model/code.rs", { query: "?raw", import: "default", eager: true }))
  .flatMap((source) => [...(source as string).matchAll(/^ {4}\w+ = "(\w+)",$/gm)])
  .map(([, code]) => code as Code);

test("every reason of the hub has German words", async () => {
  await de.rest();
  expect(spelled.length).toBeGreaterThan(100);
  const english = "said of no code";
  const refused = (code: Code) => de.refused({ code, message: english, action: "" })[0];
  expect(spelled.filter((code) => refused(code) === english || !/[a-zäöü]{3,}/.test(refused(code).replace(english, "")))).toEqual([]);
  expect(de.refused({ code: "unknown_server", message: 'there is no server "gh"', action: "See `satchel list`." })).toEqual([
    "es gibt keinen Server „gh“",
    "Vielleicht wurde er inzwischen umbenannt oder entfernt.",
  ]);
  expect(de.refused({ code: "unreadable", message: "a.json: no such file", action: "" })).toEqual(["das war nicht zu lesen: a.json: no such file", ""]);
});

test("the window sends nobody to a terminal for what it can do", async () => {
  await de.rest();
  const acts = spelled.flatMap((code) => [en, de].map((language) => language.refused({ code, message: "m", action: "Run `satchel x`." })[1]));
  expect(acts.filter((act) => act.includes("satchel x") || act.includes("`satchel "))).toEqual([]);
});
