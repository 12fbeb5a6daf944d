// Resources and templates that came together are looked at together. What was found odd, and what a person kept back, is
// looked at alone.
import type { ApprovalItem } from "../lib/hub/generated";

export interface Added {
  why: "added" | "new";
  items: ApprovalItem[];
}

const reasonToJoin = (item: ApprovalItem): Added["why"] | null => {
  const plain = item.kind === "resource" || item.kind === "template";
  if (!plain || item.kept || item.findings.length > 0) return null;
  return item.held === "added" || item.held === "new" ? item.held : null;
};

/** The groups, and what is in none. One alone is no group. */
export function grouped(items: ApprovalItem[]): { groups: Added[]; single: ApprovalItem[] } {
  const of = (why: Added["why"]): Added => ({ why, items: items.filter((item) => reasonToJoin(item) === why) });
  const groups = [of("added"), of("new")].filter((group) => group.items.length > 1);
  const joined = new Set(groups.flatMap((group) => group.items));
  return { groups, single: items.filter((item) => !joined.has(item)) };
}
