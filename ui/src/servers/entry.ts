// A server as the block that any MCP client understands.
import type { ServerView } from "../lib/hub/generated";
import { wordsOf } from "../lib/plain";

/** An `mcpServers` block with what the window knows of it: what runs, without variables and headers. */
export function entryOf(server: ServerView): string {
  const [command = server.runs, ...args] = wordsOf(server.runs);
  const entry = server.place === "hosted" ? { url: server.runs } : { command, args };
  return JSON.stringify({ mcpServers: { [server.name]: entry } }, null, 2);
}
