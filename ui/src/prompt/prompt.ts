// Questions to the user, and what can safely be shown of them. Pure.
import type { Ask, AskAnswer, FormField, QuestionAnswer, UsualRule } from "../lib/hub/generated";
import type { QuestionRequest } from "../lib/hub/hub";
import { visible } from "../lib/plain";

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
      /** The default behind it, if no rule of the user decided. */
      usual?: UsualRule;
      /** With the titles of its schema, in order. */
      arguments: { title: string; value: string }[];
      json: string;
    }
  | ({ kind: "form"; message: string; fields: FormField[] } & Asking)
  | ({ kind: "secret"; message: string; fields: string[] } & Asking)
  | ({ kind: "credential"; message: string; name: string } & Asking)
  | ({ kind: "page"; message: string; url: string; host: string } & Asking);

/** The server that asks, its tool, and the caller. */
interface Asking {
  client: string;
  server: string;
  tool: string;
}

/** The current text of a field. */
export type Written = string | boolean | string[];

/** Said once, and final. */
export type Answer =
  | { answer: "allow"; again: boolean }
  | { answer: "mute" }
  | { answer: "send"; values: Record<string, string | number | boolean | string[]> }
  | { answer: "open" }
  | { answer: "store"; value: string }
  | { answer: "decline" }
  | { answer: "cancel" };

const ofCall = (answer: Answer): AskAnswer => {
  if (answer.answer === "allow") return answer.again ? "session" : "once";
  return answer.answer === "mute" ? "mute" : "no";
};
const ofQuestion = (answer: Answer): QuestionAnswer => {
  if (answer.answer === "send") return { action: "accept", content: answer.values };
  if (answer.answer === "open") return { action: "accept", content: {} };
  return { action: answer.answer === "mute" || answer.answer === "cancel" ? answer.answer : "decline" };
};

/** The request that gives this answer. */
export function answered({ id, question }: Ask, answer: Answer): QuestionRequest {
  if (answer.answer === "store") return { do: "answer_secret", id, value: answer.value };
  return question ? { do: "answer_question", id, answer: ofQuestion(answer) } : { do: "answer_ask", id, answer: ofCall(answer) };
}

/** The initial text of a field. */
export function initially(field: FormField): Written {
  switch (field.type) {
    case "text":
      return field.initial;
    case "number":
      return field.initial === null ? "" : String(field.initial);
    case "toggle":
      return field.initial;
    case "choice":
      return field.initial ?? "";
    case "several":
      return field.initial;
  }
}

/** Is there nothing in it that could be sent? */
export const isBlank = (written: Written | undefined) => written === undefined || (typeof written === "string" && written.trim() === "") || (Array.isArray(written) && written.length === 0);

/** What was written, as the server wants it. What is blank is left out; what does not fit goes as it is, and the hub
 *  says so. */
export function valuesOf(fields: FormField[], written: Record<string, Written>): Record<string, string | number | boolean | string[]> {
  const values = fields.flatMap((field): [string, string | number | boolean | string[]][] => {
    const value = written[field.name];
    if (value === undefined || isBlank(value)) return [];
    if (field.type === "number" && typeof value === "string" && Number.isFinite(Number(value))) return [[field.name, Number(value)]];
    return [[field.name, value]];
  });
  return Object.fromEntries(values);
}

/** Splits an address so that its host can be highlighted. The hub supplies the host as the network resolves it. */
export function partsOf(url: string, host: string): { before: string; host: string; after: string } {
  const at = url.indexOf(`://${host}`);
  if (at < 0) return { before: "", host, after: ` ${visible(url)}` };
  const end = at + 3 + host.length;
  return { before: visible(url.slice(0, at + 3)), host: visible(host), after: visible(url.slice(end)) };
}

/** What waits, as a question. */
export function promptOf({ client, server, tool, effect, stated, rule, usual, arguments: given, json, question }: Ask): Prompt {
  if (question) return { client, server, tool, ...question };
  return { kind: "confirm", client, server, tool, claim: effect, stated, rule, ...(usual && { usual }), arguments: given, json };
}
