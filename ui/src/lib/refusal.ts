// A refusal as sentences: the hub writes its messages without capitals and full stops.
import type { Refusal } from "./hub/bindings";

export function sentences({ message, action }: Refusal): string {
  const said = message.charAt(0).toUpperCase() + message.slice(1);
  return [/[.!?]$/.test(said) ? said : `${said}.`, action].filter(Boolean).join(" ");
}
