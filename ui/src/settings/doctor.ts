// What a doctor found, as it is shown. Pure.
import type { DoctorFinding } from "../lib/hub/generated";
import { at, path } from "../lib/route.svelte";

const order = { wrong: 0, note: 1, fine: 2 };

/** What is wrong first; else as it was found. */
export const inOrder = (findings: readonly DoctorFinding[]) => [...findings].sort((a, b) => order[a.verdict] - order[b.verdict]);

export const summary = (findings: readonly DoctorFinding[]) => ({
  wrong: findings.filter((one) => one.verdict === "wrong").length,
  note: findings.filter((one) => one.verdict === "note").length,
});

/** Where in the window a finding is looked at; `undefined` where nowhere. */
export function placeOf({ about, subject }: DoctorFinding): string | undefined {
  switch (about) {
    case "server":
      return path(subject.slice("server ".length));
    case "client":
      return at("clients");
    case "secrets":
      return at("settings", "credentials");
    case "profile":
    case "folder":
      return at("servers");
    case "configuration":
    case "search":
    case "hub":
    case "port":
    case "runtime":
      return undefined;
  }
}

/** A text in parts, of which some are addresses of pages. */
export function linked(text: string): { text: string; page?: string }[] {
  return text.split(/(https?:\/\/[^\s`"<>]*[^\s`"<>.,;:)])/).flatMap((part, at) => (part === "" ? [] : at % 2 === 1 ? [{ text: part, page: part }] : [{ text: part }]));
}
