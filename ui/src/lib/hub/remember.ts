// What the program keeps for the time before it has a page: the window's language and theme. One change after another, so
// that none undoes the one before.
import type { Choices } from "./generated";
import type { Hub } from "./hub";

let before: Promise<void> = Promise.resolve();

export function remember(hub: Pick<Hub, "choices" | "choose">, part: Pick<Choices, "language"> | Pick<Choices, "appearance">): Promise<void> {
  const change = async () => {
    const choices = await hub.choices();
    const differs = Object.entries(part).some(([name, value]) => choices[name as keyof Choices] !== value);
    if (differs) await hub.choose({ ...choices, ...part });
  };
  // Without it, titles and backgrounds are those of the system: nothing that a person must be told.
  before = before.then(change).catch(() => undefined);
  return before;
}
