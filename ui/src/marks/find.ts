// Finds the icon for a name. Pure.

/** Names that people give, and the mark that is meant. */
const also: Record<string, string> = {
  postgres: "postgresql",
  pg: "postgresql",
  mongo: "mongodb",
  elastic: "elasticsearch",
  gdrive: "googledrive",
  gcal: "googlecalendar",
  gmaps: "googlemaps",
  hf: "huggingface",
  k8s: "kubernetes",
  chrome: "googlechrome",
  chromedevtools: "googlechrome",
  zed: "zedindustries",
  claudedesktop: "claude",
  githubcopilot: "copilot",
  amazonq: "aws",
  hass: "homeassistant",
  wiki: "wikipedia",
  modelcontextprotocol: "mcp",
  satchelwindow: "satchel",
  satchelfenster: "satchel",
};
/** Icons whose names are ordinary words, used only if the name contains nothing else. */
const words = new Set(["neon", "warp", "goose", "amp", "exa", "replit", "kiro", "mcp", "python", "google", "satchel"]);

/** `github-work` and `GitHub` are GitHub, `google-drive` Google Drive, `my-amp` nothing. */
export function findMark(name: string, known: (mark: string) => boolean): string | undefined {
  const parts = name.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "" && part !== "server" && (part !== "mcp" || name.length === 3));
  const meant = (text: string) => {
    const mark = also[text] ?? text;
    return Object.hasOwn(also, text) || known(mark) ? mark : undefined;
  };
  const whole = meant(parts.join(""));
  if (whole !== undefined && known(whole)) return whole;
  for (let size = Math.min(3, parts.length); size > 0; size--)
    for (let at = 0; at + size <= parts.length; at++) {
      const mark = meant(parts.slice(at, at + size).join(""));
      if (mark !== undefined && known(mark) && (!words.has(mark) || (at === 0 && size === parts.length))) return mark;
    }
  return undefined;
}
