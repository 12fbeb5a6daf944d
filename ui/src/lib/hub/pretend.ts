// What the fake hub tells of calls, savings and clients. All of it is invented, always the same for the same moment.
import type { ActivityAsk, ActivityPage, By, CallDetail, CallLine, Effect, LastDay, Listed, Listing, Nature, Report, ReportLine, SessionLine, Totals } from "./bindings";
import type { ConnectPreview, FoundServers, KnownClient, KnownClients } from "./proposed";
import { listing as sample } from "./samples";

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
    if (find) return { ...line, kind: "find", server: "", tool: "discover_mcp_tools", outcome: "ok", code: null, message: null, took_ms: 6, tokens: 268, argument: "“search issues in a repo”" };
    return {
      ...line,
      kind: "call",
      server,
      tool,
      outcome: failed ? "tool_error" : "ok",
      code: null,
      message: failed ? "No element matched in 5 s" : null,
      took_ms: Math.round(8 + next() * 900),
      tokens: Math.round(60 + next() * 2400),
      argument,
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
  const wanted = all.filter((call) => (ask.before === null || call.id < ask.before) && (!ask.problems || call.outcome !== "ok") && !ask.asked);
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

export function detail(all: CallLine[], id: number): CallDetail | undefined {
  const line = all.find((call) => call.id === id);
  if (!line) return undefined;
  const find = { ...line, id: line.id - 2, kind: "find", server: "", tool: "discover_mcp_tools", outcome: "ok", message: null, argument: "“search issues”", tokens: 268, took_ms: 6 };
  return {
    line,
    session: null,
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
    arguments: '{\n  "query": "login loop",\n  "repo": "acme/web",\n  "state": "open",\n  "per_page": 10\n}',
    result: '[{ "number": 4182,\n   "title": "Login loop after SSO redirect",\n   "state": "open", "comments": 6,\n   "updated_at": "2026-09-21T09:14:00Z" }]',
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
  sharing: { measured_hours: 0, processes: 0, memory_bytes: 0, most_processes: 0, most_memory_bytes: 0, used_processes: 0, used_memory_bytes: 0 },
  savings: { sessions: 0, left_out: 0, without: 0, with: 0, spent: nothing, net: 0, percent: null, break_even_searches: null, verdict: "" },
  lines: [],
});

const usual = {
  surface: "auto",
  effective: "router",
  reason: "It takes every tool it is given into its context.",
  hidden: [],
} satisfies Partial<KnownClient>;

export const clients: KnownClients = {
  looked: 41,
  clients: [
    { id: "cursor", name: "Cursor", state: "connected", path: "/home/you/.cursor/mcp.json", line: null, after: "", duplicates: [], can_undo: true, ...usual, can_move: true },
    { id: "claude-code", name: "Claude Code", state: "connected", path: "/home/you/.claude.json", line: null, after: "", duplicates: [], can_undo: true, ...usual, can_move: true },
    { id: "vscode", name: "Visual Studio Code", state: "connected", path: "/home/you/.config/Code/User/mcp.json", line: null, after: "", duplicates: ["github", "fetch"], can_undo: true, ...usual, can_move: true },
    { id: "claude-desktop", name: "Claude Desktop", state: "added", path: "/home/you/.config/Claude/claude_desktop_config.json", line: null, after: "Quit Claude completely (menu bar / tray > Quit) and open it again.", duplicates: [], can_undo: true, ...usual, can_move: true },
    { id: "windsurf", name: "Windsurf", state: "gone", path: "/home/you/.codeium/windsurf/mcp_config.json", line: null, after: "", duplicates: [], can_undo: false, ...usual, can_move: false },
    { id: "gemini-cli", name: "Gemini CLI", state: "unreadable", path: "/home/you/.gemini/settings.json", line: 14, after: "", duplicates: [], can_undo: false, ...usual, can_move: false },
    { id: "zed", name: "Zed", state: "found", path: "/home/you/.config/zed/settings.json", line: null, after: "", duplicates: [], can_undo: false, ...usual, can_move: false },
    { id: "codex", name: "Codex", state: "found", path: "/home/you/.codex/config.toml", line: null, after: "", duplicates: ["github"], can_undo: false, ...usual, can_move: false },
  ],
};

export const preview = (path: string): ConnectPreview => ({
  path,
  lines: [
    { mark: " ", text: '  "context_servers": {' },
    { mark: "+", text: '    "satchel": {' },
    { mark: "+", text: '      "url": "http://127.0.0.1:7411/mcp",' },
    { mark: "+", text: '      "headers": { "Authorization": "Bearer ••••" }' },
    { mark: "+", text: "    }" },
    { mark: " ", text: "  }" },
  ],
});

export const foundServers: FoundServers = {
  servers: [
    { key: "cursor github", name: "github", runs: "docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server", client: "cursor", client_name: "Cursor", same_as: null, secrets: 1, enabled: true },
    { key: "cursor filesystem", name: "filesystem", runs: "npx -y @modelcontextprotocol/server-filesystem ~/work", client: "cursor", client_name: "Cursor", same_as: null, secrets: 0, enabled: true },
    { key: "cursor linear", name: "linear", runs: "https://mcp.linear.app/mcp", client: "cursor", client_name: "Cursor", same_as: null, secrets: 0, enabled: true },
    { key: "vscode github", name: "github", runs: "docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server", client: "vscode", client_name: "Visual Studio Code", same_as: "cursor github", secrets: 1, enabled: true },
    { key: "vscode fetch", name: "fetch", runs: "uvx mcp-server-fetch", client: "vscode", client_name: "Visual Studio Code", same_as: null, secrets: 0, enabled: false },
  ],
};

/** Entries like the bundled ones. */
export function listing(query: string): Listing {
  const own = sample.entries[0]!;
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
    like("toolbox", "Toolbox", { publisher: "Satchel", about: { en: "Times, hashes, differences and JSON queries. Built in.", de: "Zeiten, Prüfsummen, Unterschiede und JSON-Abfragen. Eingebaut." }, topics: ["code", "data"], runtime: null, measured: null, tools: [] }),
  ];
  const wanted = query.trim().toLowerCase();
  return { ...sample, entries: entries.filter((entry) => `${entry.title} ${entry.about.en} ${entry.tools.map((tool) => tool.name).join(" ")}`.toLowerCase().includes(wanted)) };
}

/** What an invented tool does. */
export function nature(effect: Effect): Nature {
  const safety = effect === "reads" ? "safe" : effect === "writes" ? "moderate" : "dangerous";
  return { effect, stated: true, safety, commands: false, idempotent: false, open_world: false, needs_auth: false, deprecated: false };
}

/** What npm notes of a package's contents. */
export const digest = "sha512-g38YEyrda27qouiryVN3/fKOetGsaacXI58hIVLQlsJmp+L/T9vCG89eJiuxQZAqRlZ7amBjPgdgKmcZK7kY+w==";
