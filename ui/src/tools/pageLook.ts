// How the window looks, in the names that pages of MCP Apps know. They fall back on their own where a name is missing, so all
// colours are told or none.
import type { PageFrame } from "../lib/hub/generated";
import { visible } from "../lib/plain";
import { words } from "../words";

const colours: Record<string, string> = {
  "background-primary": "surface", "background-secondary": "sunken", "background-tertiary": "hover", "background-inverse": "ink", "background-ghost": "surface",
  "background-info": "accent-soft", "background-danger": "bad-soft", "background-success": "ok-soft", "background-warning": "warn-soft", "background-disabled": "sunken",
  "text-primary": "text", "text-secondary": "text-2", "text-tertiary": "text-3", "text-inverse": "ink-fg", "text-ghost": "text-3",
  "text-info": "accent-text", "text-danger": "bad-text", "text-success": "ok-text", "text-warning": "warn-text", "text-disabled": "text-3",
  "border-primary": "line-2", "border-secondary": "line", "border-tertiary": "line", "border-inverse": "ink", "border-ghost": "line",
  "border-info": "accent", "border-danger": "bad-line", "border-success": "ok", "border-warning": "warn-line", "border-disabled": "line",
  "ring-primary": "accent", "ring-secondary": "line-2", "ring-inverse": "ink-fg", "ring-info": "accent", "ring-danger": "bad", "ring-success": "ok", "ring-warning": "warn",
};
const others: Record<string, string> = {
  "--font-sans": "system-ui, sans-serif", "--font-weight-normal": "400", "--font-weight-medium": "500", "--font-weight-semibold": "600", "--font-weight-bold": "700",
  "--font-text-xs-size": "11px", "--font-text-sm-size": "12px", "--font-text-md-size": "13px", "--font-text-lg-size": "15px",
  "--font-heading-sm-size": "13px", "--font-heading-md-size": "15px", "--font-heading-lg-size": "20px",
  "--border-radius-xs": "4px", "--border-radius-sm": "6px", "--border-radius-md": "9px", "--border-radius-lg": "13px", "--border-radius-full": "999px", "--border-width-regular": "1px",
};

/** Theme, colours, language, time zone and size, as reported to a page. */
export function look(width: number, maxHeight: number): Record<string, unknown> {
  const root = document.documentElement;
  const style = getComputedStyle(root);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const told = Object.entries(colours).map(([name, own]) => [`--color-${name}`, value(own)]);
  return {
    theme: root.dataset.theme === "dark" ? "dark" : "light",
    styles: { variables: { ...Object.fromEntries(told), ...others, "--font-mono": value("mono") || "monospace" } },
    containerDimensions: { width, maxHeight },
    locale: root.lang || "en",
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** What a page may reach, and what it wants and may not, for people. */
export function reached(page: PageFrame): string {
  const w = words.trying.page;
  const list = (origins: string[]) => [...new Set(origins)].map(visible).join(", ");
  const all = list([...page.connect, ...page.load]);
  return [all ? w.reaches(all) : w.reachesNothing, page.refused.length > 0 && w.kept(list(page.refused))].filter(Boolean).join(" ");
}
