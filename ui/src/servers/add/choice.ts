// What a person decides about one server before it is added. Pure.
import { risks } from "../../catalog/risks";
import type { Caution, FoundServer } from "../../lib/hub/generated";

export interface Choice {
  /** Another name than the proposed one. */
  name: string | undefined;
  /** Takes the place of the server that has this name. */
  replace: boolean;
  /** Which of its risks were accepted, by their places. */
  accepted: number[];
  answers: Record<string, string>;
}

/** What the hub wants accepted of this launch, and the answer that accepts it. */
export function acceptOf(server: FoundServer): { id: string; risks: Caution[] } | undefined {
  const need = server.needs.find(({ id }) => id.startsWith("accept."));
  return need && { id: need.id, risks: risks(server.warnings) };
}

/** A name that the hub takes. */
export const isName = (name: string) => /^(?!\s)[^:|/\\\p{Cc}]{1,64}(?<!\s)$/u.test(name);
