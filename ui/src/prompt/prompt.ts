// What a person may be asked, and what may safely be shown of it. Pure.
import type { Ask } from "../lib/hub/bindings";

export type Prompt =
  | {
      kind: "confirm";
      client: string;
      server: string;
      tool: string;
      claim: "reads" | "writes" | "deletes" | "unstated";
      /** The server says so itself; otherwise the tool's words suggest it. */
      stated: boolean;
      /** The rule that wants a person asked. */
      rule: string;
      /** With the titles of its schema, in order. */
      arguments: { title: string; value: string }[];
      json: string;
    }
  | { kind: "form"; client: string; server: string; message: string; fields: Field[] }
  | { kind: "link"; client: string; server: string; message: string; url: string }
  | { kind: "install"; name: string; runs: string; place: "computer" | "hosted"; risks: Risk[] };

export interface Field {
  name: string;
  title: string;
  description: string;
  type: "text" | "number" | "boolean" | "choice";
  choices: { value: string; title: string }[];
  required: boolean;
  initial: string;
  /** `password`, `email`, … as the schema says. */
  format: string;
}

export type Risk = "shell" | "code" | "download" | "path";

/** Said once, and final. */
export type Answer =
  | { answer: "allow"; again: boolean }
  | { answer: "mute" }
  | { answer: "send"; values: Record<string, string | number | boolean> }
  | { answer: "open" }
  | { answer: "add" }
  | { answer: "decline" }
  | { answer: "cancel" };

const secret = /pass(word|phrase|wd)?\b|token|secret|api[-_ ]?key|private[-_ ]?key|credential|\bpin\b|\botp\b|kennwort|passwort/i;

/** Does a form ask for something that must not pass this way? */
export const asksForSecret = (fields: Field[]) =>
  fields.some((field) => field.format === "password" || secret.test(`${field.name} ${field.title} ${field.description}`.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ")));

/** Control characters, and signs that turn or hide text, as escapes: what is read is what is there. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029\u115F\u1160\u3164\uFFA0]/gu, (sign) =>
    sign === "\n" || sign === "\t" ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}

/** An address in parts, the host as the network knows it: look-alike letters show as punycode. */
export function partsOf(url: string): { before: string; host: string; after: string } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname, search, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return undefined;
  return { before: `${protocol}//`, host, after: visible(pathname + search + hash) };
}

/** What is worth a closer look in a command that a link brings. */
export function risksOf(command: string, args: string[]): Risk[] {
  const program = command.split(/[/\\]/).at(-1)!.replace(/\.(exe|cmd|bat|ps1)$/i, "").toLowerCase();
  const line = args.join(" ");
  const risks = new Set<Risk>();
  if (["sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh"].includes(program)) risks.add("shell");
  if (["node", "python", "python3", "deno", "bun", "perl", "ruby", "php", "osascript"].includes(program) && /(^|\s)(-e|-c|-p|--eval|--print|-r|eval)(\s|=|$)/.test(line)) risks.add("code");
  if (["curl", "wget", "iwr"].includes(program) || /\b(curl|wget|Invoke-WebRequest|iex)\b|https?:\/\/\S+\.(sh|ps1|tgz|zip|js|py)\b/.test(line)) risks.add("download");
  if (/[/\\]/.test(command)) risks.add("path");
  return [...risks];
}

/** A call that waits, as a question. */
export const promptOf = ({ client, server, tool, effect, stated, rule, arguments: given, json }: Ask): Prompt => ({
  kind: "confirm",
  client,
  server,
  tool,
  claim: effect,
  stated,
  rule,
  arguments: given,
  json,
});
