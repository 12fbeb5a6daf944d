// What a link or a dropped file asks the window to show. Pure; nothing is added by it.

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
  const config = said.get("config");
  const url = said.get("url");
  if (config) {
    const read = entry(config);
    if (!read) return undefined;
    const whole = "mcpServers" in read || "servers" in read ? read : { mcpServers: { [name || "server"]: read } };
    return { text: JSON.stringify(whole, null, 2) };
  }
  if (url) return { text: name ? JSON.stringify({ mcpServers: { [name]: { url } } }, null, 2) : url };
  return name.includes("/") ? { name } : undefined;
}

/** JSON, written out or in base64, as READMEs have it. */
function entry(text: string): Record<string, unknown> | undefined {
  for (const read of [() => text, () => new TextDecoder().decode(Uint8Array.from(atob(text.replace(/ /g, "+").replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)))])
    try {
      const value: unknown = JSON.parse(read());
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    } catch {
      // The other way, then.
    }
  return undefined;
}
