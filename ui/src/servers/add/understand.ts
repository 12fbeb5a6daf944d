// What a pasted text says: a command line, an address, or the JSON or TOML block from a README. Pure.
import type { Target } from "../../lib/hub/generated";

export interface Found {
  name: string;
  target: Target;
}

export type Problem =
  | { kind: "empty" }
  | { kind: "not-json"; why: string }
  | { kind: "not-toml"; why: string }
  | { kind: "no-servers" }
  | { kind: "bad-entry"; name: string }
  | { kind: "open-quote" }
  | { kind: "bad-url" };

export type Understood = { found: Found[] } | { problem: Problem };

/** A block of TOML, which somebody else has to read. */
export const isToml = (text: string) => !isJson(text.trim()) && /^\[\s*["'\w.-]+\s*\]/m.test(text) && text.includes("=");
const isJson = (given: string) => /^["{]/.test(given) && /[{:]/.test(given);

/** What stands in a text, or in the block of TOML that was read from it. */
export function understand(text: string, toml?: { value: unknown } | { why: string }): Understood {
  const given = text.trim();
  if (!given) return { problem: { kind: "empty" } };
  if (isJson(given)) return fromJson(given);
  if (isToml(given)) {
    if (!toml) return { problem: { kind: "empty" } };
    return "why" in toml ? { problem: { kind: "not-toml", why: toml.why } } : found(serversIn(toml.value));
  }
  if (/^https?:/i.test(given)) return fromUrl(given);
  return fromCommandLine(given);
}

// ---- an address

function fromUrl(given: string): Understood {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url?.hostname || /\s/.test(given)) return { problem: { kind: "bad-url" } };
  return { found: [{ name: nameOfHost(url.hostname), target: { kind: "url", url: given, headers: {} } }] };
}

function nameOfHost(host: string): string {
  if (/^[\d.]+$|:|^localhost$/.test(host)) return safe(host);
  const parts = host.split(".").filter((part) => !["www", "mcp", "api"].includes(part));
  return safe((parts.length > 1 ? parts.at(-2) : parts[0]) ?? host);
}

// ---- a command line

function fromCommandLine(given: string): Understood {
  const parts = words(given.replace(/^\$ /, "").replace(/\\\r?\n/g, " "));
  if (!parts) return { problem: { kind: "open-quote" } };
  const env: Record<string, string> = {};
  while (parts[0] && /^[A-Za-z_]\w*=/.test(parts[0])) {
    const [name = "", ...value] = parts.shift()!.split("=");
    env[name] = value.join("=");
  }
  const [command, ...args] = parts;
  if (command === undefined) return { problem: { kind: "empty" } };
  return { found: [{ name: nameOfCommand(command, args), target: { kind: "command", command, args, env, cwd: null } }] };
}

/** Splits as a shell would: quotes and backslashes, but no variables and no globs. `undefined`: a quote is open. */
export function words(line: string): string[] | undefined {
  const found: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (quote) {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && /["\\$`]/.test(line[at + 1] ?? "")) word += line[++at]!;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (char === "\\" && /[\s"'\\$]/.test(line[at + 1] ?? "")) {
      word = (word ?? "") + line[++at]!;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote) return undefined;
  if (word !== undefined) found.push(word);
  return found;
}

const runners = new Set(["npx", "uvx", "bunx", "pnpm", "npm", "yarn", "pipx", "uv", "docker", "podman", "node", "python", "python3", "deno", "bun"]);
const verbs = new Set(["run", "exec", "dlx", "x", "tool", "--"]);
const takesValue = new Set(["-e", "--env", "-v", "--volume", "--mount", "-p", "--publish", "--name", "--network", "-w", "--from", "--with", "--package"]);

function nameOfCommand(command: string, args: string[]): string {
  const program = command.split(/[/\\]/).at(-1)!.replace(/\.(exe|cmd|bat|ps1)$/i, "");
  if (!runners.has(program)) return nameOfPackage(program);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (takesValue.has(arg)) at++;
    else if (!arg.startsWith("-") && !verbs.has(arg)) return nameOfPackage(arg);
  }
  return nameOfPackage(program);
}

/** `@modelcontextprotocol/server-everything@1.2` everything, `ghcr.io/github/github-mcp-server:1` github */
function nameOfPackage(path: string): string {
  const last = path.split(/[/\\]/).at(-1)!;
  const bare = last.replace(/(?<=.)[@:].*$/, "").replace(/\.(js|mjs|ts|py)$/, "");
  const parts = bare.split(/[-_]/).filter((part) => !["mcp", "server"].includes(part.toLowerCase()));
  const scope = /^@([^/]+)\//.exec(path)?.[1];
  return safe(parts.join("-") || (scope ?? bare));
}

/** A name the hub accepts, made from any text. */
function safe(name: string): string {
  return name.replace(/[:|/\\\p{Cc}]+/gu, "-").trim().slice(0, 64) || "server";
}

// ---- the block from a README

function fromJson(given: string): Understood {
  const parsed = parseLoosely(given);
  if ("why" in parsed) return { problem: { kind: "not-json", why: parsed.why } };
  return found(serversIn(parsed.value));
}

function found(entries: [name: string, entry: unknown][]): Understood {
  if (entries.length === 0) return { problem: { kind: "no-servers" } };
  const servers: Found[] = [];
  for (const [name, entry] of entries) {
    const target = targetOf(entry);
    if (!target) return { problem: { kind: "bad-entry", name } };
    servers.push({ name: name || nameOf(target), target });
  }
  return { found: servers };
}

function nameOf(target: Target): string {
  return target.kind === "url" ? nameOfHost(URL.canParse(target.url) ? new URL(target.url).hostname : target.url) : nameOfCommand(target.command, target.args);
}

// READMEs show blocks with comments, trailing commas, or without the outer braces.
function parseLoosely(text: string): { value: unknown } | { why: string } {
  const attempts = [text, `{${text}}`, relaxed(text), `{${relaxed(text)}}`];
  let why = "";
  for (const attempt of attempts) {
    try {
      return { value: JSON.parse(attempt) };
    } catch (cause) {
      why ||= cause instanceof Error ? cause.message : String(cause);
    }
  }
  return { why };
}

function relaxed(text: string): string {
  const outsideStrings = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const bare = text.replace(outsideStrings, (_, string: string | undefined) => string ?? "");
  return bare.replace(/("(?:[^"\\]|\\.)*")|,(\s*[}\]])/g, (_, string: string | undefined, end: string) => string ?? end).replace(/,\s*$/, "");
}

const blocks = ["mcpServers", "mcp_servers", "servers", "context_servers", "mcp"];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function serversIn(value: unknown): [name: string, entry: unknown][] {
  if (!isObject(value)) return [];
  for (const block of blocks) if (isObject(value[block])) return serversIn(value[block]);
  if (targetOf(value)) return [["", value]];
  const entries = Object.entries(value).filter(([, entry]) => isObject(entry));
  return entries.some(([, entry]) => targetOf(entry)) ? entries : [];
}

function targetOf(entry: unknown): Target | undefined {
  if (!isObject(entry)) return undefined;
  const { command, args, env, cwd } = entry;
  const headers = entry.headers ?? entry.http_headers;
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  if (typeof url === "string") return { kind: "url", url, headers: texts(headers) };
  if (typeof command !== "string" || !command) return undefined;
  return {
    kind: "command",
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: texts(env),
    cwd: typeof cwd === "string" ? cwd : null,
  };
}

function texts(value: unknown): Record<string, string> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {};
}
