// What a link, a badge or a dropped file asks the window to show. Pure; adds nothing.

/** A server of a registry, a text as if it had been pasted, or a file. */
export type Wanted = { name: string } | { text: string } | { file: string };

/** What `/install?…` and `/import?…` name. */
export function wantedAt(place: string): Wanted | undefined {
  const [path, query] = [place.slice(0, place.indexOf("?")), place.slice(place.indexOf("?") + 1)];
  const said = new URLSearchParams(query);
  if (path === "/import") {
    const file = said.get("file");
    return file ? { file } : undefined;
  }
  if (path !== "/install") return undefined;
  const name = said.get("name")?.trim() ?? "";
  // The hub reads what is in it, as it reads the links of READMEs.
  if (said.get("config")) return { text: `satchel:/${place}` };
  const url = said.get("url");
  if (url) return { text: name ? JSON.stringify({ mcpServers: { [name]: { url } } }) : url };
  return name.includes("/") ? { name } : undefined;
}

/** An install link as READMEs have it for editors, or the badge around one: the hub reads the entry out of it. */
export const isLink = (text: string) => /^([a-z][\w+.-]*:|\[|<|!)/i.test(text.trim()) && /[?&;](config|cmd)=|mcp\/install\?/i.test(text) && !/^[\[\s]*[\w."-]+\]\s*\n/.test(text);
