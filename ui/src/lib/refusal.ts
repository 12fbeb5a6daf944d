// What the hub says, as sentences: it writes its messages without capitals and full stops.
import type { Refusal } from "./hub/bindings";

export const capital = (message: string) => message.charAt(0).toUpperCase() + message.slice(1);

export function sentences({ message, action }: Refusal): string {
  const said = capital(message);
  return [/[.!?]$/.test(said) ? said : `${said}.`, action].filter(Boolean).join(" ");
}
