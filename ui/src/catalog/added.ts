// Finds catalog servers that are already configured, by package or address and regardless of name. Pure.
import type { Listed, ServerView } from "../lib/hub/generated";
import { wordsOf } from "../lib/plain";

/** A package without its version: `@scope/name@1.2.3`, `name==1.2`, `ghcr.io/a/b:tag`. */
function bare(word: string): string {
  const [name] = word.split(/(?<=.)@(?=[^/]*$)|==|\[/);
  return (name ?? word).replace(/:[\w.-]+$/, "");
}
/** Normalises an address for comparison: ignores case, a trailing slash and the query. */
function address(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`.toLowerCase();
}
const launchers: Record<string, string> = { npx: "npm", bunx: "npm", pnpx: "npm", uvx: "pypi", pipx: "pypi", docker: "image", podman: "image" };
const nameOf = (program: string) => (program.split(/[\\/]/).at(-1) ?? program).replace(/\.(exe|cmd)$/i, "");
/** Options of launchers that take a word which is no package. */
const taking = new Set(["-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "-p", "--publish", "--with", "--python", "-c", "--registry", "--index-url"]);

/** What runs, from where: `npm:@scope/name`. `undefined` where it is no package. */
function packageOf(words: readonly string[]): string | undefined {
  const kind = launchers[nameOf(words[0] ?? "")];
  if (!kind) return undefined;
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    if (/^(--from|--package|-p)$/.test(word) && kind !== "image" && words[at + 1]) return `${kind}:${bare(words[at + 1]!)}`;
    if (taking.has(word)) at++;
    else if (!word.startsWith("-") && !["run", "exec", "x", "dlx"].includes(word)) return `${kind}:${bare(word)}`;
  }
  return undefined;
}

function ofEntry({ target }: Listed): string | undefined {
  if (target.kind === "url") return address(target.url);
  // A program of its own is the same where its whole command is.
  return packageOf([target.command, ...target.args]) ?? [target.command, ...target.args].join(" ");
}
const ofServer = (server: ServerView) => (server.place === "hosted" ? address(server.runs) : (packageOf(wordsOf(server.runs)) ?? wordsOf(server.runs).join(" ")));

/** The configured servers, for looking up catalog entries. */
export function added(servers: readonly ServerView[]): (entry: Listed) => string | undefined {
  const there = new Map(servers.flatMap((server) => (ofServer(server) === undefined ? [] : [[ofServer(server)!, server.name] as const])));
  return (entry) => there.get(ofEntry(entry) ?? "");
}

/** What may stand before a package without fetching another one. */
const harmless = new Set(["-y", "--yes", "-q", "--quiet", "dlx", "x", "exec", "run", "-i", "--rm", "--init"]);
function isPlain(words: readonly string[]): boolean {
  const at = words.findIndex((word, place) => place > 0 && !word.startsWith("-") && !harmless.has(word));
  return words.slice(1, at < 0 ? words.length : at).every((word) => harmless.has(word));
}

/** The titles of the entries that these servers run, by the servers' names, however they are called. */
export function products(entries: readonly Listed[], servers: readonly ServerView[]): Record<string, string> {
  const titles = new Map(entries.flatMap((entry) => (ofEntry(entry) === undefined ? [] : [[ofEntry(entry)!, entry.title] as const])));
  return Object.fromEntries(
    servers.flatMap((server) => {
      const title = server.place === "hosted" || isPlain(wordsOf(server.runs)) ? titles.get(ofServer(server) ?? "") : undefined;
      return title === undefined ? [] : [[server.name, title] as const];
    }),
  );
}
