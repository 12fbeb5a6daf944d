// What the hub says, as sentences: it writes its messages without capitals and full stops.
import { words } from "../words";
import type { Left, Refusal } from "./hub/generated";

/** As a sentence begins, unless a name does: its letters are its own. `odd:delete_all`, `api.example.com` and `npmRun` are
 * names, and no word. */
export const capital = (message: string) => (/^\p{Ll}[\p{Ll}'’-]*(?:[,;:.!?)…]*(?:\s|$))/u.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message);

export function sentences(refusal: Refusal): string {
  const [message, action] = words.refused(refusal);
  return [full(message), action].filter(Boolean).join(" ");
}

/** A message as a whole sentence. */
export function full(message: string): string {
  const said = capital(message);
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

/** Why something was left out. */
export const whyLeft = (left: Left) => (left.refusal ? sentences(left.refusal) : words.left(left));

/** Can no credential be stored? Another place for them helps. */
export const nothingStored = (refusal?: Refusal) => refusal?.code === "keychain_locked" || refusal?.code === "keychain_absent";

/** Whatever went wrong, as a refusal that can be shown. */
export function asRefusal(cause: unknown): Refusal {
  if (typeof cause === "object" && cause !== null && "message" in cause) {
    const { code = "panicked", message, action = "", why } = cause as Partial<Refusal>;
    return { code, message: String(message), action, ...(why && { why }) };
  }
  return { code: "panicked", message: String(cause), action: "" };
}
