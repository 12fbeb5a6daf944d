// A call as code for use elsewhere. Pure. It never contains a token, only a placeholder.
import { parts } from "../lib/path";
import { print, type Json } from "./json";

export const forms = ["json", "curl", "satchel"] as const;
export type Form = (typeof forms)[number];

export const TOKEN = "YOUR_TOKEN";
const REVISION = "2026-07-28";
const meta = { "io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {} };

/** Quotes an argument for a POSIX shell or PowerShell. */
export const quoted = (word: string, powershell: boolean) => (/^[\w@%+=:,./-]+$/.test(word) ? word : powershell ? `'${word.replaceAll("'", "''")}'` : `'${word.replaceAll("'", "'\\''")}'`);

/** A name in a header: signs that no header has are written in Base64, as the protocol wants it. */
function header(name: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !/^=\?base64\?.*\?=$/.test(name)) return name;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(name)))}?=`;
}

export function copyAs(form: Form, toolPath: string, value: Json, endpoint: string, powershell = false): string {
  const [server, tool] = parts(toolPath);
  if (form === "satchel") return `satchel call ${quoted(toolPath, powershell)} ${quoted(print(value, 0), powershell)}`;
  if (form === "json") return print({ method: "tools/call", params: { name: tool, arguments: value } });
  const body = print({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: value, _meta: meta } }, 0);
  const headers = [`Authorization: Bearer ${TOKEN}`, "Content-Type: application/json", "Accept: application/json, text/event-stream", `MCP-Protocol-Version: ${REVISION}`, "Mcp-Method: tools/call", `Mcp-Name: ${header(tool)}`];
  const words = [`${endpoint}/server/${encodeURIComponent(server)}`, ...headers.flatMap((one) => ["-H", one]), "-d", body];
  return [powershell ? "curl.exe" : "curl", "-s", ...words.map((word) => quoted(word, powershell))].join(" ");
}
