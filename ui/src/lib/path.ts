// Paths as the hub writes them: `server:tool`. A separator in the name of a server is written as `%3A` or `%7C` there.

/** A server's name as it stands in a path. */
export const inPath = (name: string) => name.replace(/%(?=3a|7c|25)/gi, "%25").replaceAll(":", "%3A").replaceAll("|", "%7C");

export const pathOf = (server: string, tool: string) => `${inPath(server)}:${tool}`;

/** The tool's own name. The record of a call that did not come as far as its server has the path that was asked for. */
export const ownName = ({ server, tool }: { server: string; tool: string }) => (server && tool.startsWith(pathOf(server, "")) ? tool.slice(pathOf(server, "").length) : tool);

const escapes: Record<string, string> = { "%3A": ":", "%7C": "|", "%25": "%" };

/** The server and the tool of a path; the server alone where it names no tool. */
export function parts(path: string): readonly [server: string, tool: string] {
  const at = path.indexOf(":");
  const server = at < 0 ? path : path.slice(0, at);
  return [server.replace(/%3a|%7c|%25/gi, (escape) => escapes[escape.toUpperCase()] ?? escape), at < 0 ? "" : path.slice(at + 1)];
}
