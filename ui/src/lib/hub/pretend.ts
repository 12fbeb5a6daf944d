// What the fake hub tells of calls, savings and clients. All of it is invented, always the same for the same moment.
import type { ActivityAsk, ActivityPage, By, CallDetail, CallLine, ClientChange, ClientList, ClientState, Effect, Examination, Findings, FoundServer, InstallPlan, KnownClient, LastDay, Listed, ListedServer, ListedServers, Listing, Nature, Report, ReportLine, ServerDay, SessionLine, SetupReview, Target, Totals, TriedScript } from "./generated";

/** The same numbers every time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const tools: [server: string, tool: string, argument: string][] = [
  ["github", "search_issues", "“login loop” in acme/web"],
  ["playwright", "browser_snapshot", "http://localhost:5173/login"],
  ["context7", "query_docs", "svelte 5 · $effect cleanup"],
  ["sentry", "find_issues", "is:unresolved project:api"],
  ["filesystem", "read_text_file", "~/Code/docs/guide/intro.md"],
  ["fetch", "fetch", "https://example.com/changelog"],
];
const programs: [client: string, program: string][] = [
  ["cursor", "Cursor 3.2"],
  ["claude-code", "Claude Code 2.1"],
  ["vscode", "Visual Studio Code 1.118"],
];

export function calls(count: number, now: number): CallLine[] {
  const next = numbers(7);
  return Array.from({ length: count }, (_, at): CallLine => {
    const [server, tool, argument] = tools[Math.floor(next() * tools.length)]!;
    const session = 1 + Math.floor(at / 9);
    const failed = next() > 0.93;
    const find = next() > 0.86;
    const line = { id: count - at, session, client: programs[session % programs.length]![0], time_ms: now - at * 21_000 - Math.floor(next() * 9_000) };
    if (find) return { ...line, kind: "find", server: "", tool: "discover_mcp_tools", outcome: "ok", code: null, message: null, took_ms: 6, waited_ms: 0, woke_ms: 0, tokens: 268, argument: "“search issues in a repo”", kept_out: null };
    return {
      ...line,
      kind: "call",
      server,
      tool,
      outcome: failed ? "tool_error" : "ok",
      code: null,
      message: failed ? "No element matched in 5 s" : null,
      took_ms: Math.round(8 + next() * 900),
      waited_ms: 0,
      woke_ms: 0,
      tokens: Math.round(60 + next() * 2400),
      argument,
      kept_out: null,
    };
  });
}

const nothing = { definitions: 0, find: 0, describe: 0, wrapping: 0 };
const nobody: SessionLine = { id: 0, client: "", program: "", era: "2025-11-25", started_ms: 0, last_ms: 0, calls: 0, searches: 0, without: 0, spent: nothing, net: 0, counted: true };

export function lastDay(all: CallLine[], now: number): LastDay {
  const part = 5_400_000;
  const days: Record<string, number[]> = {};
  for (const call of all) {
    const place = 15 - (Math.floor(now / part) - Math.floor(call.time_ms / part));
    if (!call.server || place < 0) continue;
    const parts = (days[call.server] ??= Array<number>(16).fill(0));
    parts[place]!++;
  }
  return { calls: days };
}

export function activity(all: CallLine[], ask: ActivityAsk, now: number): ActivityPage {
  const wanted = all.filter((call) => (ask.before === null || call.id < ask.before) && (!ask.problems || call.outcome !== "ok") && !ask.asked && (ask.session === null || call.session === ask.session));
  const shown = wanted.slice(0, ask.limit || 100);
  const sessions = new Map<number, SessionLine>();
  for (const call of all) {
    const known = sessions.get(call.session);
    const program = programs[call.session % programs.length]![1];
    const line = known ?? { ...nobody, id: call.session, client: call.client, program, last_ms: call.time_ms };
    sessions.set(call.session, { ...line, started_ms: call.time_ms, calls: line.calls + 1 });
  }
  const minutes = Array.from({ length: 60 }, () => ({ calls: 0, failures: 0 }));
  for (const call of all) {
    const minute = minutes[59 - Math.floor((now - call.time_ms) / 60_000)];
    if (minute) minute.calls++;
    if (minute && call.outcome !== "ok") minute.failures++;
  }
  const ids = new Set(shown.map((call) => call.session));
  return {
    calls: shown,
    sessions: [...sessions.values()].filter((session) => ids.has(session.id)),
    more: shown.length < wanted.length,
    minutes,
    problems: all.filter((call) => call.outcome !== "ok").length,
    asked: 0,
  };
}

export const serverOf = (all: CallLine[], id: number) => all.find((call) => call.id === id)?.server ?? "";

export function serverDay(all: CallLine[], server: string, now: number): ServerDay {
  const today = all.filter((call) => call.server === server && now - call.time_ms < 86_400_000);
  const took = today.filter((call) => call.outcome !== "not_sent").map((call) => call.took_ms).sort((a, b) => a - b);
  const rank = (share: number) => took[Math.ceil(took.length * share) - 1] ?? null;
  const clients = new Map<string, { client: string; calls: number; last_ms: number }>();
  for (const { client, time_ms } of today) {
    const known = clients.get(client) ?? { client, calls: 0, last_ms: 0 };
    clients.set(client, { client, calls: known.calls + 1, last_ms: Math.max(known.last_ms, time_ms) });
  }
  return { calls: today.length, failures: today.filter((call) => call.outcome !== "ok").length, timed: took.length, median_ms: rank(0.5), p95_ms: rank(0.95), clients: [...clients.values()].sort((a, b) => b.calls - a.calls) };
}

/** What a doctor finds on an ordinary computer. */
export const examination: Examination = {
  findings: [
    { about: "configuration", subject: "configuration", verdict: "fine", message: "/home/you/.config/satchel/config.json; servers: 12", action: "", code: "config_read", file: "/home/you/.config/satchel/config.json", servers: 12 },
    { about: "search", subject: "search", verdict: "fine", message: "by words and by meaning, with the model /usr/lib/satchel/model", action: "", code: "search_with_model", file: "/usr/lib/satchel/model" },
    { about: "hub", subject: "hub", verdict: "fine", message: "runs as process 4100 at http://127.0.0.1:7411/mcp", action: "", code: "hub_runs", pid: 4100, url: "http://127.0.0.1:7411/mcp" },
    { about: "port", subject: "port", verdict: "fine", message: "7411, at http://127.0.0.1:7411/mcp", action: "", code: "port_usual", port: 7411, url: "http://127.0.0.1:7411/mcp" },
    { about: "search_path", subject: "PATH", verdict: "fine", message: "/usr/bin, /usr/local/bin", action: "", code: "search_path", dirs: ["/usr/bin", "/usr/local/bin"] },
    { about: "runtime", subject: "runtime npx", verdict: "fine", message: "/usr/bin/npx", action: "", code: "runtime", program: { at: "/usr/bin/npx" }, install: null },
    { about: "runtime", subject: "runtime uvx", verdict: "note", message: "uvx was not found in PATH", action: "Install uv from https://docs.astral.sh/uv/.", code: "runtime", program: { missing: { command: "uvx", instead: [] } }, install: { program: "uvx", part_of: "uv", command: null, page: "https://docs.astral.sh/uv/" } },
    { about: "secrets", subject: "secrets", verdict: "fine", message: "2 stored in the keychain", action: "", code: "secrets_kept", store: "keychain", count: 2 },
    { about: "client", subject: "client Cursor", verdict: "fine", message: "connected in /home/you/.cursor/mcp.json", action: "", code: "client_connected", file: "/home/you/.cursor/mcp.json", doubled: [] },
    { about: "client", subject: "client Windsurf", verdict: "wrong", message: "the entry has gone from /home/you/.codeium/windsurf/mcp_config.json", action: "Connect it again with `satchel connect windsurf`.", code: "client_troubled", client: "windsurf", trouble: "vanished", why: "the entry has gone" },
    { about: "server", subject: "server github", verdict: "fine", message: "Asleep; /usr/bin/docker", action: "", code: "server_seen", doing: "Asleep", lacks: [], variables: [], program: { at: "/usr/bin/docker" }, also: null },
    { about: "server", subject: "server puppeteer", verdict: "wrong", message: "Did not start; npx was not found", action: "Install it.", code: "server_seen", doing: "Did not start", lacks: [], variables: [], program: { missing: { command: "npx", instead: [] } }, also: null },
  ],
};

export function detail(all: CallLine[], id: number, keeps = true): CallDetail | undefined {
  const line = all.find((call) => call.id === id);
  if (!line) return undefined;
  const find = { ...line, id: line.id - 2, kind: "find", server: "", tool: "discover_mcp_tools", outcome: "ok", message: null, argument: "“search issues”", tokens: 268, took_ms: 6, kept_out: null };
  return {
    line,
    session: { ...nobody, id: line.session, client: line.client, program: programs[line.session % programs.length]![1], started_ms: line.time_ms - 60_000, last_ms: line.time_ms },
    wait_ms: 0,
    start_ms: 0,
    upstream_ms: Math.max(1, line.took_ms - 4),
    ours_ms: 4,
    request_bytes: 184,
    result_bytes: 7065,
    request_tokens: 44,
    result_tokens: (line.tokens ?? 44) - 44,
    rule: "default",
    client_era: "2025-11-25",
    server_era: "2025-06-18",
    trace: null,
    arguments: !keeps ? null : '{\n  "query": "login loop",\n  "repo": "acme/web",\n  "state": "open",\n  "per_page": 10\n}',
    result: !keeps ? null : '[{ "number": 4182,\n   "title": "Login loop after SSO redirect",\n   "state": "open", "comments": 6,\n   "updated_at": "2026-09-21T09:14:00Z" }]',
    inside: [],
    script: null,
    route: line.kind === "call" ? [find] : [],
  };
}

export function report(by: By, days: number, now: number): Report {
  const none: Totals = { calls: 0, failures: 0, searches: 0, request_bytes: 0, result_bytes: 0, request_tokens: 0, result_tokens: 0, uncounted: 0, took: { median_ms: 0, p95_ms: 0, wait_ms: 0, start_ms: 0, upstream_ms: 0, ours_ms: 0 } };
  const next = numbers(11);
  const daily = Array.from({ length: days }, (_, at): ReportLine => {
    const day = new Date(now - (days - 1 - at) * 86_400_000);
    const weekend = day.getDay() === 0 || day.getDay() === 6;
    const sessions = weekend ? 1 : 3 + Math.floor(next() * 6);
    const without = Math.round(sessions * (11_400 + next() * 2_000));
    const costly = at === 4 || at === 12;
    const spent = costly ? Math.round(without * 1.16) : Math.round(without * (0.17 + next() * 0.12));
    return { name: day.toISOString().slice(0, 10), totals: { ...none, calls: sessions * 9 }, sessions, without, with: spent, net: without - spent };
  });
  const sum = (of: (line: ReportLine) => number) => daily.reduce((all, line) => all + of(line), 0);
  const [without, spent, sessions] = [sum((line) => line.without), sum((line) => line.with), sum((line) => line.sessions)];
  const shares: Record<By, [string, number][]> = {
    client: [["cursor", 0.588], ["vscode", 0.308], ["claude-desktop", 0.122], ["claude-code", -0.018]],
    server: [["github", 0.41], ["playwright", 0.27], ["sentry", 0.19], ["linear", 0.13], ["filesystem", 0.07], ["Router", -0.07]],
    tool: [["github:search_issues", 0.3], ["playwright:browser_snapshot", 0.25], ["sentry:find_issues", 0.2], ["filesystem:read_text_file", 0.15], ["fetch:fetch", 0.1]],
    day: [],
  };
  const net = without - spent;
  const lines = by === "day" ? daily : shares[by].map(([name, share]): ReportLine => ({ name, totals: none, sessions: 0, without: 0, with: 0, net: Math.round(net * share) }));
  const part = (share: number) => Math.round(spent * share);
  return {
    by,
    from: "",
    tokenizer: "o200k_base",
    totals: { ...none, calls: sessions * 9, failures: 12, searches: sessions * 2 },
    scripts: { runs: 3, calls: 41, inside: 18_400, spent: 1_250, net: 17_150, losses: 1 },
    sharing: { measured_hours: 41, processes: 5.5, memory_bytes: 410_000_000, most_processes: 12, most_memory_bytes: 940_000_000, used_processes: 4, used_memory_bytes: 320_000_000 },
    savings: {
      left_out: 0,
      break_even_searches: 14,
      verdict: "",
      sessions,
      without,
      with: spent,
      spent: { definitions: part(0.22), find: part(0.48), describe: part(0.23), wrapping: spent - part(0.22) - part(0.48) - part(0.23) },
      net,
      percent: sessions < 5 ? null : (100 * net) / without,
    },
    lines,
    how: [],
  };
}

export const noReport = (by: By): Report => ({
  ...report(by, 0, 0),
  scripts: { runs: 0, calls: 0, inside: 0, spent: 0, net: 0, losses: 0 },
  sharing: { measured_hours: 0, processes: 0, memory_bytes: 0, most_processes: 0, most_memory_bytes: 0, used_processes: 0, used_memory_bytes: 0 },
  savings: { sessions: 0, left_out: 0, without: 0, with: 0, spent: nothing, net: 0, percent: null, break_even_searches: null, verdict: "" },
  lines: [],
});

/** A client, as the hub tells of it. */
export const client = (id: string, name: string, file: string, state: ClientState, more: Partial<KnownClient> = {}): KnownClient =>
  ({
    id,
    name,
    tier: "A",
    confidence: "high",
    sign: null,
    installed: true,
    file: `/home/you/${file}`,
    duplicates: [],
    surface: "auto",
    effective: "router",
    reason: "It takes every tool it is given into its context.",
    hidden: [],
    profile: null,
    after_connect: null,
    ...more,
    ...state,
  }) as KnownClient;

const twice = (...names: string[]) => ({ duplicates: names.map((name) => ({ there: name, here: name })) });
const connected = { state: "connected", since_ms: 0 } as const;
const absent = Array.from({ length: 33 }, (_, at) => client(`app-${at}`, `App ${at}`, `.app-${at}.json`, { state: "not_connected" }, { installed: false }));

export const clients: ClientList = {
  clients: [
    client("cursor", "Cursor", ".cursor/mcp.json", connected),
    client("claude-code", "Claude Code", ".claude.json", connected),
    client("vscode", "Visual Studio Code", ".config/Code/User/mcp.json", connected, twice("github", "fetch")),
    client("claude-desktop", "Claude Desktop", ".config/Claude/claude_desktop_config.json", { state: "added" }, { after_connect: "Quit Claude completely (menu bar / tray > Quit) and open it again." }),
    client("windsurf", "Windsurf / Devin Desktop", ".codeium/windsurf/mcp_config.json", { state: "needs_you", what: "vanished", message: "our entry is gone" }),
    client("gemini-cli", "Gemini CLI", ".gemini/settings.json", { state: "needs_you", what: "unreadable", message: "line 14 is no JSON" }),
    client("zed", "Zed", ".config/zed/settings.json", { state: "not_connected" }),
    client("codex", "OpenAI Codex", ".codex/config.toml", { state: "not_connected" }, twice("github")),
    ...absent,
  ],
};

/** What connecting a client writes. */
export const preview = (of: KnownClient): ClientChange => ({
  client: of.id,
  name: of.name,
  done: false,
  files: [
    {
      path: of.file ?? "",
      what: "added",
      entry: "satchel",
      diff: `--- before
+++ after
@@ -1,2 +1,6 @@
   "context_servers": {
+    "satchel": {
+      "url": "http://127.0.0.1:7411/mcp",
+      "headers": { "Authorization": "Bearer ••••" }
+    }
   }
`,
    },
  ],
  next: null,
  warnings: [],
  snippet: null,
});

/** A server in other programs' files. */
const found = (name: string, client: string, runs: string, more: Partial<FoundServer> = {}): FoundServer => ({
  name,
  runs,
  words: runs.split(" "),
  transport: runs.startsWith("https://") ? "http" : "stdio",
  enabled: true,
  places: [`${client}: ~/.${client}/mcp.json`],
  known: null,
  secrets: [],
  needs: [],
  remote: null,
  warnings: [],
  omitted: [],
  sets: [],
  ...more,
});

const docker = "docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server";

export const foundServers: Findings = {
  servers: [
    found("github", "cursor", docker, { secrets: ["GITHUB_TOKEN"], places: ["cursor: ~/.cursor/mcp.json", "vscode: ~/.vscode/mcp.json"] }),
    found("filesystem", "cursor", "npx -y @modelcontextprotocol/server-filesystem ~/work"),
    found("linear", "cursor", "https://mcp.linear.app/mcp"),
    found("notes", "vscode", "npx -y notes-mcp", { known: "notes" }),
    found("fetch", "vscode", "uvx mcp-server-fetch", { omitted: [{ place: "fetch", reason: '"dev" has no effect in Satchel', code: "no_effect", fields: ["dev"] }], enabled: false }),
  ],
  skipped: [],
  troubles: [],
};

/** A server that does more than run, and one that is not known here, with what is to be said of them. */
export const riskyServers: Findings = {
  servers: [
    found("disk", "cursor", "docker run -v /:/host acme/disk", {
      places: [],
      needs: [{ id: "accept.disk", description: "it mounts. Type yes to accept that", secret: false, format: "", choices: [], default: null }],
      warnings: [{ code: "mounts_disk", parts: [], text: "it lets the container read and change the whole disk" }],
    }),
    found("notes", "cursor", "npx -y notes-mcp", { places: [], omitted: [{ place: "notes", reason: '"dev" has no effect in Satchel', code: "no_effect", fields: ["dev"] }] }),
  ],
  skipped: [],
  troubles: [],
};

/** What an update would run and change, with what is to be said of it. */
export const cautiousPlan = (): InstallPlan =>
  installPlan({
    called: "filesystem",
    version: "2.1.5",
    runs: ["npx", "-y", "server-0@2.1.5", "/home/you/work"],
    changes: ["no longer server-0@2.1.4", "now server-0@2.1.5", "now ACME_TOKEN="],
    remarks: [{ code: "other_owner", parts: ["evil"], text: "its publisher and the owner of its repository (evil) are not the same" }],
    consents: [{ id: "accept.inside", says: "it leads to 10.0.0.1", why: { code: "address_inside", parts: ["10.0.0.1"], text: "it leads to 10.0.0.1" } }],
    inputs: [],
  });

/** The entry that the others are like. */
const filesystem: Listed = {
  id: "filesystem",
  title: "Filesystem",
  publisher: "modelcontextprotocol",
  about: {de: "Dateien in einem Ordner lesen, schreiben und durchsuchen.", en: "Read, write and search files in one folder."},
  topics: ["files"],
  target: {kind: "command", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "{folder}"], env: {}, cwd: null},
  needs: [{name: "folder", kind: "folder", label: {de: "Ein Ordner, in dem es arbeiten darf", en: "A folder it may work in"}, optional: false, get: null}],
  runtime: "node",
  home: "https://github.com/modelcontextprotocol/servers",
  license: "MIT",
  measured: {tools: 14, tokens: 2823, version: "2026.8.31", on: "2026-11-21"},
  tools: [
    { name: "read_file", about: "Read the complete contents of a file as text", kind: "reads" },
    { name: "read_text_file", about: "Read the complete contents of a file from the file system as text", kind: "reads" },
    { name: "read_media_file", about: "Read a file and return it as a base64-encoded content block with its MIME type", kind: "reads" },
    { name: "read_multiple_files", about: "Read the contents of multiple files simultaneously", kind: "reads" },
    { name: "write_file", about: "Create a new file or completely overwrite an existing file with new content", kind: "deletes" },
    { name: "edit_file", about: "Make line-based edits to a text file", kind: "deletes" },
    { name: "create_directory", about: "Create a new directory or ensure a directory exists", kind: "writes" },
    { name: "list_directory", about: "Get a detailed listing of all files and directories in a specified path", kind: "reads" },
    { name: "list_directory_with_sizes", about: "Get a detailed listing of all files and directories in a specified path, including sizes", kind: "reads" },
    { name: "directory_tree", about: "Get a recursive tree view of files and directories as a JSON structure", kind: "reads" },
    { name: "move_file", about: "Move or rename files and directories", kind: "deletes" },
    { name: "search_files", about: "Recursively search for files and directories matching a pattern", kind: "reads" },
    { name: "get_file_info", about: "Retrieve detailed metadata about a file or directory", kind: "reads" },
    { name: "list_allowed_directories", about: "Returns the list of directories that this server is allowed to access", kind: "reads" },
  ],
};

/** Entries like the bundled ones. */
export function listing(query: string): Listing {
  const own = filesystem;
  const like = (id: string, title: string, more: Partial<Listed>): Listed => ({ ...own, id, title, needs: [], tools: own.tools.slice(0, 6), ...more });
  const entries: Listed[] = [
    own,
    like("github", "GitHub", {
      publisher: "github",
      about: { en: "Issues, pull requests, code search and Actions.", de: "Issues, Pull Requests, Codesuche und Actions." },
      topics: ["code"],
      target: { kind: "url", url: "https://api.githubcopilot.com/mcp/", headers: { Authorization: "Bearer {GITHUB_TOKEN}" } },
      needs: [{ name: "GITHUB_TOKEN", kind: "secret", label: { en: "A personal access token", de: "Ein persönliches Zugriffstoken" }, optional: false, get: "https://github.com/settings/personal-access-tokens" }],
      runtime: null,
      measured: null,
      tools: [],
    }),
    like("linear", "Linear", {
      publisher: "linear",
      about: { en: "Issues, projects and cycles.", de: "Aufgaben, Projekte und Zyklen." },
      topics: ["ops"],
      target: { kind: "url", url: "https://mcp.linear.app/mcp", headers: { Authorization: "Bearer {LINEAR_API_KEY}" } },
      needs: [{ name: "LINEAR_API_KEY", kind: "secret", label: { en: "A personal API key", de: "Ein persönlicher API-Schlüssel" }, optional: true, get: "https://linear.app/settings/account/security" }],
      runtime: null,
      measured: null,
      tools: [],
    }),
    like("playwright", "Playwright", { publisher: "microsoft", about: { en: "Drive a real browser: click, type, read the page.", de: "Einen echten Browser bedienen: klicken, tippen, lesen." }, topics: ["browser"] }),
    like("time", "Time", { publisher: "modelcontextprotocol", about: { en: "Current time and time-zone conversion.", de: "Aktuelle Zeit und Umrechnung von Zeitzonen." }, topics: ["data"], runtime: "uv" }),
    like("deepwiki", "DeepWiki", {
      publisher: "cognition",
      about: { en: "Ask questions about any public GitHub repository.", de: "Fragen zu jedem öffentlichen GitHub-Repository stellen." },
      topics: ["docs", "code"],
      target: { kind: "url", url: "https://mcp.deepwiki.com/mcp", headers: {} },
      runtime: null,
      measured: null,
      tools: [],
    }),
    like("toolbox", "Toolbox", { publisher: "Satchel", about: { en: "Times, hashes, differences and JSON queries. Built in.", de: "Zeiten, Prüfsummen, Unterschiede und JSON-Abfragen. Eingebaut." }, topics: ["code", "data"], target: { kind: "command", command: "satchel", args: ["toolbox"], env: {}, cwd: null }, runtime: null, measured: null, tools: [] }),
  ];
  const wanted = query.trim().toLowerCase();
  return { made: "2026-11-21", tokenizer: "o200k_base", entries: entries.filter((entry) => `${entry.title} ${entry.about.en} ${entry.tools.map((tool) => tool.name).join(" ")}`.toLowerCase().includes(wanted)) };
}

/** What an invented tool does. */
export function nature(effect: Effect): Nature {
  const safety = effect === "reads" ? "safe" : effect === "writes" ? "moderate" : "dangerous";
  return { effect, stated: true, safety, commands: false, idempotent: false, open_world: false, needs_auth: false, deprecated: false };
}

/** What npm notes of a package's contents. */
export const digest = "sha512-g38YEyrda27qouiryVN3/fKOetGsaacXI58hIVLQlsJmp+L/T9vCG89eJiuxQZAqRlZ7amBjPgdgKmcZK7kY+w==";

/** What a script comes to: two calls, of which one fails where the script says so. */
export function script(text: string): TriedScript {
  const failed = text.includes("throw");
  const said = failed ? "Error: no (line 1 of the script). 2 calls were made before that; what they did is done." : '{"open":2}';
  return {
    result: JSON.stringify({ content: [{ type: "text", text: said }, { type: "text", text: "Logged:\nlooking" }], isError: failed }),
    took_ms: 412,
    calls: [
      { path: "github:search_issues", took_ms: 120, failed: false },
      { path: "github:get_issue", took_ms: failed ? null : 31, failed },
    ],
  };
}

/** What differs on another computer: one part of each standing. */
export const setupReview = (computer: string, sealed: boolean): SetupReview => ({
  computer,
  written_ms: Date.now() - 3_600_000,
  same: 9,
  sealed,
  differences: [
    { id: "server:postgres", part: "server", name: "postgres", standing: "new", warnings: ["it runs a shell"], seen: "1", diff: [{ mark: "added", risky: false, text: '{\n  "command": "sh",\n  "args": ["-c", "npx -y postgres-mcp"]\n}' }] },
    {
      id: "server:github",
      part: "server",
      name: "github",
      standing: "conflict",
      warnings: [],
      seen: "2",
      diff: [
        { mark: "same", risky: false, text: '{\n  "url": "https://api.githubcopilot.com/' },
        { mark: "removed", risky: false, text: "mcp/" },
        { mark: "added", risky: false, text: "mcp/readonly" },
        { mark: "same", risky: false, text: '"\n}' },
      ],
    },
    { id: "profile:web", part: "profile", name: "web", standing: "changed", warnings: [], seen: "3", diff: [{ mark: "added", risky: false, text: '"playwright"' }] },
    { id: "setting:toolRules", part: "setting", name: "toolRules", standing: "removed", warnings: [], seen: "4", diff: [{ mark: "removed", risky: false, text: '[{ "tool": "*:delete_*", "permit": "ask" }]' }] },
  ],
});

/** A server of a registry. */
const listedServer = (at: number): ListedServer => ({
  name: `io.github.acme/server-${at}`,
  title: `server ${at}`,
  description: "Reads and writes what it is asked for.",
  version: "1.0.0",
  publisher: "io.github.acme",
  registry: "https://registry.example",
  status: "active",
  status_message: null,
  repository: null,
  website: null,
  published: null,
  versions: 1,
  ways: [],
  remarks: [],
  installed: null,
  measured: null,
  proof: "unknown",
});

/** What installing one would do, with these inputs. */
export const installPlan = (more: Partial<InstallPlan>): InstallPlan => ({
  ...listedServer(0),
  called: "server-0",
  way: "npm",
  transport: "stdio",
  runs: ["npx", "-y", "server-0@1.0.0"],
  env: {},
  headers: {},
  inputs: [],
  missing: [],
  consents: [],
  runtime: null,
  from: null,
  changes: [],
  afterwards: [],
  seen: "1",
  ...more,
});

/** A part of a registry of so many servers. */
export const listed = (total: number, offset: number, limit: number): ListedServers => ({
  servers: Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) => listedServer(offset + at)),
  total,
  known: total,
  refused: 0,
  registries: [],
});

/** What a pasted text says, as far as tests need it: a block of JSON, an address or words. */
export function read(text: string): Findings {
  const given = text.trim();
  const entries: [string, { command?: string; args?: string[]; url?: string; env?: Record<string, string> }][] = given.startsWith("{")
    ? Object.entries((JSON.parse(given) as { mcpServers: Record<string, object> }).mcpServers)
    : /^https?:/.test(given)
      ? [[new URL(given).hostname.split(".").at(-2) ?? "server", { url: given }]]
      : [[(given.split(/\s+/).find((word, at) => at > 0 && !word.startsWith("-")) ?? given).replace(/^.*[/]|mcp-server-|server-/g, ""), { command: given.split(/\s+/)[0]!, args: given.split(/\s+/).slice(1) }]];
  const secret = /^(.*(?:TOKEN|KEY|PASSWORD).*?)=/i;
  const servers = entries.map(([name, { command, args = [], url, env = {} }]): FoundServer => {
    const words = url ? [url] : [command!, ...args.map((word) => (secret.test(word) ? word.replace(/=.*/, `=\${secret:${name}}`) : word))];
    const secrets = [...Object.keys(env), ...args].filter((word) => secret.test(`${word}=`));
    return { ...found(name, "pasted", words.join(" ")), words, sets: Object.keys(env), secrets, places: [], transport: url ? "http" : "stdio" };
  });
  return { servers, skipped: [], troubles: [] };
}
export const targetOf = ({ words: [first = "", ...args], transport }: FoundServer): Target => (transport === "stdio" ? { kind: "command", command: first, args, env: {}, cwd: null } : { kind: "url", url: first, headers: {} });
