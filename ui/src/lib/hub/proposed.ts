// Words the window is ready for and the hub does not speak yet. They move to bindings.ts, and get their sample, when
// the hub says them; until then only the fake hub does.

// ---- the ledger

export type By = "client" | "server" | "tool" | "day";

export interface Report {
  by: By;
  from: string;
  tokenizer: string;
  totals: Totals;
  savings: Savings;
  lines: ReportLine[];
  how: string[];
}

export interface Totals {
  calls: number;
  failures: number;
  searches: number;
}

export interface Savings {
  sessions: number;
  without: number;
  with: number;
  spent: Spent;
  net: number;
  percent: number | null;
}

export interface Spent {
  definitions: number;
  find: number;
  describe: number;
  wrapping: number;
}

export interface ReportLine {
  name: string;
  totals: Totals;
  sessions: number;
  without: number;
  with: number;
  net: number;
}

export interface ActivityAsk {
  before?: number;
  limit?: number;
  problems?: boolean;
  asked?: boolean;
}

export interface ActivityPage {
  calls: CallLine[];
  sessions: SessionLine[];
  more: boolean;
  minutes: Minute[];
  problems: number;
  asked: number;
}

export interface Minute {
  calls: number;
  failures: number;
}

export interface CallLine {
  id: number;
  time_ms: number;
  session: number;
  client: string;
  /** `call`, `read`, `find`, `describe` or `resources`. */
  kind: string;
  server: string;
  tool: string;
  outcome: string;
  code: string | null;
  message: string | null;
  took_ms: number;
  tokens: number | null;
  argument: string | null;
}

export interface SessionLine {
  id: number;
  client: string;
  program: string;
  era: string;
  started_ms: number;
  last_ms: number;
  calls: number;
  searches: number;
  net: number;
}

export interface CallDetail {
  line: CallLine;
  session: SessionLine | null;
  wait_ms: number;
  start_ms: number;
  upstream_ms: number;
  ours_ms: number;
  request_bytes: number;
  result_bytes: number;
  request_tokens: number | null;
  result_tokens: number | null;
  rule: string;
  client_era: string;
  server_era: string | null;
  arguments: string | null;
  result: string | null;
  route: CallLine[];
}

/** What is shown of the ledger without asking: a page that shows another `newest` is out of date. */
export interface LedgerView {
  newest: number;
  calls_hour: number;
  failures_hour: number;
  net_today: number;
}

// ---- clients and what they have

export interface KnownClients {
  clients: KnownClient[];
  /** How many apps were looked for. */
  looked: number;
}

export interface KnownClient {
  id: string;
  name: string;
  state: "connected" | "added" | "gone" | "edited" | "unreadable" | "found";
  path: string | null;
  /** Where its settings cannot be read. */
  line: number | null;
  /** What a person has to do after its settings changed, as its vendor says. */
  after: string;
  /** Servers it still starts by itself although Satchel has them. */
  duplicates: string[];
  can_undo: boolean;
}

export interface ConnectPreview {
  path: string;
  lines: { mark: " " | "+" | "-"; text: string }[];
}

export interface FoundServers {
  servers: FoundServer[];
}

export interface FoundServer {
  key: string;
  name: string;
  /** What runs, or where it connects. */
  runs: string;
  client: string;
  client_name: string;
  /** Another entry that is the same server. */
  same_as: string | null;
  secrets: number;
  enabled: boolean;
}

export type ProposedWish =
  | { do: "report"; by: By; hours: number | null }
  | { do: "activity"; ask: ActivityAsk }
  | { do: "call_detail"; id: number }
  | { do: "replay"; id: number; arguments: unknown }
  | { do: "clients" }
  | { do: "preview_connect"; client: string }
  | { do: "connect_client"; client: string }
  | { do: "undo_connect"; client: string }
  | { do: "found_servers" }
  | { do: "import"; keys: string[] };
