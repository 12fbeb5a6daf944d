// The doctor's findings as they are shown. Pure.
import type { Code, DoctorFinding, ServerView } from "../lib/hub/generated";
import { at, path } from "../lib/route.svelte";

const order = { wrong: 0, note: 1, fine: 2 };

/** Sorts faults first and keeps the order otherwise. */
export const inOrder = (findings: readonly DoctorFinding[]) => [...findings].sort((a, b) => order[a.verdict] - order[b.verdict]);

export const summary = (findings: readonly DoctorFinding[]) => ({
  wrong: findings.filter((one) => one.verdict === "wrong").length,
  note: findings.filter((one) => one.verdict === "note").length,
});

/** Where in the window a finding is looked at; `undefined` where nowhere. */
export function placeOf(finding: DoctorFinding): string | undefined {
  const { about, subject } = finding;
  if (finding.code === "noticed" && finding.notice === "setup_differs") return at("settings", "setup");
  if (finding.code === "noticed" && finding.notice === "settings_held") return at("servers");
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
    case "search_path":
    case "runtime":
      return undefined;
  }
}

/** The code that says what helps, where there is one; `server` is the one that is meant. */
export function codeOf(finding: DoctorFinding, server?: ServerView): Code | undefined {
  switch (finding.code) {
    case "noticed":
      return finding.notice;
    case "rules_invalid":
      return "rule_invalid";
    case "settings_invalid":
      return "setting_invalid";
    case "secrets_unusable":
      return finding.trouble ?? undefined;
    case "secrets_silent":
      return "keychain_locked";
    case "port_closed":
      return "port_taken";
    case "server_seen":
      if (finding.also === "offers_nothing") return "no_tools";
      return server && "code" in server ? server.code : server?.last_failure?.code;
    default:
      return undefined;
  }
}

/** A text in parts, of which some are addresses of pages. Commands, which stand between backticks, are none. */
export function linked(text: string): { text: string; page?: string }[] {
  return text.split(/(`[^`]*`|https?:\/\/[^\s`"<>]*[^\s`"<>.,;:)])/).flatMap((part) => (part === "" ? [] : part.startsWith("http") ? [{ text: part, page: part }] : [{ text: part }]));
}
