// The words the window shares with the hub: the shapes of satchel-core's `model` and of src-tauri's `state.rs`.
// samples.ts is written by `cargo test -p satchel-app samples` from the Rust types; it does not compile
// when a shape here is not the one Rust sends.

/** The hub as the window sees it. Unknown is a value: `opening` shows grey bars, never a zero. */
export type HubState =
  | { hub: "opening" }
  | { hub: "open"; snapshot: Snapshot; refused: Refused | null }
  | { hub: "held"; pid: number | null; url: string | null }
  | { hub: "stopped"; message: string };

/** A switch of a server that did not move, and why. Forgotten when one moves. */
export interface Refused {
  server: string;
  refusal: Refusal;
}

export interface Snapshot {
  version: number;
  endpoint: string | null;
  notices: Notice[];
  servers: ServerView[];
  clients: ClientView[];
  avoided: Avoided;
  paused: Paused | null;
  ledger: LedgerView;
  /** Calls that wait for a person's word, in the order in which they are answered. */
  asks: Ask[];
}

export type Permit = "allow" | "ask" | "off";
export type Effect = "reads" | "writes" | "deletes" | "unstated";

/** A call that waits for a person's word. Hidden characters are written out in all of it. */
export interface Ask {
  id: number;
  client: string;
  server: string;
  tool: string;
  effect: Effect;
  /** Its server says so itself. */
  stated: boolean;
  arguments: { title: string; value: string }[];
  json: string;
  rule: string;
  since_ms: number;
  until_ms: number;
  /** What the tool's server wants to know; without it a rule asks whether the call may be made. */
  question?: ServerQuestion;
}

/** What a server wants to know of a person in the middle of a call. What is shown of it hides nothing. */
export type ServerQuestion = { message: string } & (
  | { kind: "form"; fields: FormField[] }
  /** It looks like a secret and can only be declined. */
  | { kind: "secret"; fields: string[] }
  /** Its server cannot start without it; it goes into the keychain alone. */
  | { kind: "credential"; name: string }
  | { kind: "page"; url: string; host: string }
);

/** One field of a form; `name` is how the answer names it. */
export type FormField = { name: string; title: string; description: string; required: boolean } & (
  | { type: "text"; format: TextFormat | null; min: number | null; max: number | null; initial: string }
  | { type: "number"; whole: boolean; min: number | null; max: number | null; initial: number | null }
  | { type: "toggle"; initial: boolean }
  | { type: "choice"; options: FieldOption[]; initial: string | null }
  | { type: "several"; options: FieldOption[]; min: number | null; max: number | null; initial: string[] }
);
export type TextFormat = "email" | "uri" | "date" | "date-time";
export interface FieldOption {
  value: string;
  title: string;
}

export type QuestionAnswer = { action: "accept"; content: Record<string, string | number | boolean | string[]> } | { action: "decline" } | { action: "cancel" } | { action: "mute" };

export type AskAnswer = "once" | "session" | "always" | "no" | "mute";

/** What is known of a tool before it is called. */
export interface Nature {
  effect: Effect;
  stated: boolean;
  safety: "safe" | "moderate" | "dangerous";
  commands: boolean;
  idempotent: boolean;
  open_world: boolean;
  needs_auth: boolean;
  deprecated: boolean;
}

/** A pause that a person asked for; `null` means until a person ends it. */
export interface Paused {
  until_ms: number | null;
}

export interface Notice {
  code: Code;
  message: string;
  action: string;
}

export type Place = "computer" | "hosted";
export type Startup = "lazy" | "keep-alive" | "eager" | "manual";

export type ServerView = {
  name: string;
  title: string | null;
  place: Place;
  enabled: boolean;
  startup: Startup;
  pid: number | null;
  tools: number | null;
  tokens: number | null;
  resources: number | null;
  skipped: string[];
  /** Definitions that are held back and that nobody has looked at. */
  held: number;
  /** Why it is not started before a person has approved it, where it is not. */
  not_started: NotStarted | null;
  /** Nobody has looked at what it offers. */
  unseen: Unseen | null;
  runs: string;
  idle_timeout_seconds: number;
  /** Is it walled in, and what is left to it then? */
  sandbox: Sandbox | null;
  starts: number;
  calls: number;
  wake_ms: number | null;
  /** It was never started, and nothing is known of what it offers. */
  fresh: boolean;
  /** What went wrong last, until it works again or a person dismisses it. */
  last_failure: LastFailure | null;
  usage: Usage;
} & ServerState;

export interface LastFailure {
  code: Code;
  message: string;
  at_ms: number;
  /** What it was doing. */
  during: "start" | "run" | "lists";
}

/** What a server may reach that is walled in, besides what every program needs. */
export interface Sandbox {
  read: string[];
  write: string[];
  network: boolean;
}

/** What a server costs this computer, its whole process tree taken together. */
export interface Usage {
  processes: number | null;
  memory_bytes: number | null;
  cpu_percent: number | null;
  restarts: number;
  noise: number;
}

/** What sharing saves at this moment, measured. */
export interface Avoided {
  clients: number;
  processes: number;
  memory_bytes: number;
  formula: string;
}

/** Times are milliseconds since the Unix epoch. */
export type ServerState =
  | { state: "off" }
  | { state: "asleep" }
  | { state: "starting"; since_ms: number; phase: "starting" | "downloading" }
  | { state: "ready"; in_flight: number; sleeps_at_ms: number | null }
  | { state: "stopping" }
  | { state: "backing_off"; code: Code; message: string; retry_at_ms: number; failures: number }
  | { state: "broken"; code: Code; message: string; retry_at_ms: number; failures: number }
  | { state: "needs_credential"; names: string[]; variables: string[]; message: string }
  | { state: "invalid"; message: string };

export interface ClientView {
  id: string;
  requests: number;
  last_call: string | null;
  last_seen_ms: number;
}

export type Code =
  | "spawn_not_found"
  | "runtime_missing"
  | "docker_down"
  | "spawn_denied"
  | "exited_early"
  | "handshake_timeout"
  | "stdout_noise"
  | "oom_killed"
  | "handshake_refused"
  | "protocol_version"
  | "crashed"
  | "crash_loop"
  | "list_failed"
  | "tool_paused"
  | "needs_credential"
  | "dns"
  | "unreachable"
  | "tls"
  | "http_401"
  | "http_403"
  | "http_404"
  | "http_5xx"
  | "keychain_locked"
  | "keychain_absent"
  | "vault_locked"
  | "config_invalid"
  | "port_taken"
  | "no_tools"
  | "offline"
  | "oauth_discovery"
  | "oauth_refresh"
  | "oauth_callback_timeout"
  | "too_big"
  | "set_aside"
  | "ledger_unusable"
  | "held_back"
  | "settings_held"
  | "approvals_lost"
  | "denied";

/** What the window may wish for. The hub knows more wishes; the window has no business with them. */
export type Wish =
  | { do: "tools"; query: string; server: string | null; limit: number }
  | ({ do: "change" } & Change)
  | { do: "entry"; server: string }
  | { do: "own_secrets"; server: string }
  | { do: "package"; server: string }
  | { do: "pin"; server: string; version: string | null }
  | { do: "put_back"; server: string }
  | { do: "dismiss_failure"; server: string }
  | { do: "restart"; server: string }
  | { do: "rest"; server: string }
  | { do: "pause"; until_ms: number | null }
  | { do: "resume" }
  | { do: "listing"; query: string }
  | { do: "secret_names" }
  | { do: "set_secret"; name: string; value: string }
  | { do: "remove_secret"; name: string }
  | { do: "use_vault"; passphrase: string }
  | { do: "unlock_vault"; passphrase: string }
  | { do: "log"; server: string; lines: number }
  | ({ do: "report" } & ReportAsk)
  | ({ do: "activity" } & ActivityAsk)
  | { do: "last_day" }
  | { do: "call_detail"; id: number }
  | { do: "run_again"; id: number; arguments: unknown }
  | { do: "delete_history"; sums: boolean }
  | { do: "forget_habits" }
  | { do: "approvals"; server: string | null }
  | { do: "approve"; server: string; items: Seen[] }
  | { do: "looked_at"; server: string }
  | { do: "approve_settings"; fingerprint: string }
  | { do: "keep_held"; server: string; items: Seen[] }
  | { do: "answer_ask"; id: number; answer: AskAnswer }
  | { do: "answer_question"; id: number; answer: QuestionAnswer }
  | { do: "answer_secret"; id: number; value: string }
  | { do: "reading_ask"; id: number };

/** What a server's launcher fetches for it. */
export interface PackageView {
  /** The package as its entry names it. */
  package: string;
  /** The one version that runs; `null` where whichever is newest does. */
  version: string | null;
  /** What is remembered of the contents of that version. */
  digest: string | null;
  /** Where no version is named: those that the launcher has here. */
  fetched: string[];
  /** Does the launcher keep what can be read here? */
  kept: boolean;
  /** How the package is named with one exact version, with one that is made up. */
  example: string;
}
export interface Pinned {
  package: string;
  version: string;
}

export type DefinitionKind = "tool" | "prompt" | "resource" | "template" | "introduction" | "instructions" | "beside" | "launch" | "package" | "secret";
export type Why = "changed" | "added" | "new" | "alarming" | "lost";
/** Why nothing of a server is started before a person has approved it. */
export type NotStarted = "new_entry" | "changed_entry" | "lost" | "package" | "secret";
export type Unseen = "new" | "imported";
export type Odd =
  | "hidden_text"
  | "control_characters"
  | "look_alike"
  | "instruction"
  | "other_tools"
  | "asks_for_secrets"
  | "encoded"
  | "active_content"
  | "layout"
  | "resembles";

/** A definition, named together with what it was when a person looked at it. */
export interface Seen {
  kind: DefinitionKind;
  name: string;
  fingerprint: string;
}

export interface ApprovalList {
  servers: ServerApprovals[];
  /** Settings in the configuration file that nobody has accepted. */
  settings: SettingsChange | null;
}

/** Rules and addresses that another hand wrote into the configuration file. */
export interface SettingsChange {
  fingerprint: string;
  diff: DiffPart[];
}

export interface ServerApprovals {
  server: string;
  unseen: Unseen | null;
  /** Definitions on offer that nobody has looked at. */
  new: number;
  items: ApprovalItem[];
}

/** One definition to look at. Hidden characters are written out in what differs and in what was found. */
export interface ApprovalItem {
  kind: DefinitionKind;
  name: string;
  fingerprint: string;
  /** `null` where it is on offer. */
  held: Why | null;
  kept: boolean;
  diff: DiffPart[];
  findings: Finding[];
}

export interface DiffPart {
  mark: "same" | "removed" | "added";
  risky: boolean;
  text: string;
}

export interface Finding {
  about: Odd;
  place: string;
  begin: number;
  end: number;
  text: string;
}

export type Change =
  | { change: "add"; name: string; target: Target; startup: Startup | null; era?: "auto" | "legacy" | "modern"; replace: boolean }
  | { change: "edit"; name: string; entry: Record<string, unknown> }
  | { change: "duplicate"; name: string; to: string }
  | { change: "remove"; name: string }
  | { change: "set_enabled"; name: string; enabled: boolean }
  | { change: "set_keep_calls"; name: string; keep: boolean }
  | { change: "set_sandbox"; name: string; sandbox: Sandbox | null }
  | { change: "set_learning"; learn: boolean }
  | { change: "set_permit"; tool: string; client: string | null; permit: Permit | null };

/** By what a report is divided. */
export type By = "client" | "server" | "tool" | "day";

/** The last so many calendar days or hours; with neither, everything there is. */
export interface ReportAsk {
  by: By;
  days: number | null;
  hours: number | null;
}

/** What was called and saved. Every face shows the same numbers. */
export interface Report {
  by: By;
  from: string;
  tokenizer: string;
  totals: Totals;
  savings: Savings;
  sharing: Sharing;
  lines: ReportLine[];
  how: string[];
}

export interface Totals {
  calls: number;
  failures: number;
  searches: number;
  request_bytes: number;
  result_bytes: number;
  request_tokens: number;
  result_tokens: number;
  uncounted: number;
  took: Took;
}

export interface Took {
  median_ms: number;
  p95_ms: number;
  wait_ms: number;
  start_ms: number;
  upstream_ms: number;
  ours_ms: number;
}

/** `net = without - with`; `percent` is null while it is too early to judge. */
/** What sharing servers saved, in means over the time in which servers ran. */
export interface Sharing {
  measured_hours: number;
  processes: number;
  memory_bytes: number;
  most_processes: number;
  most_memory_bytes: number;
  used_processes: number;
  used_memory_bytes: number;
}

export interface Savings {
  sessions: number;
  left_out: number;
  without: number;
  with: number;
  spent: Spent;
  net: number;
  percent: number | null;
  break_even_searches: number | null;
  verdict: string;
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

/** Which calls a page shows; `before` is the last one of the page before. */
export interface ActivityAsk {
  before: number | null;
  limit: number;
  problems: boolean;
  asked: boolean;
  client: string | null;
  server: string | null;
  tool: string | null;
  session: number | null;
  from_ms: number | null;
  to_ms: number | null;
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

export interface LastDay {
  calls: Record<string, number[]>;
}

export interface CallLine {
  id: number;
  time_ms: number;
  session: number;
  client: string;
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
  without: number;
  spent: Spent;
  net: number;
  counted: boolean;
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
  trace: string | null;
  arguments: string | null;
  result: string | null;
  route: CallLine[];
}

/** What the window knows of the ledger without asking; when `newest` moves, a page is out of date. */
export interface LedgerView {
  newest: number;
  calls_hour: number;
  failures_hour: number;
  net_today: number;
  /** Are calls recorded? */
  records: boolean;
  /** Are tools found sooner that were used after similar searches? */
  learns: boolean;
}

export type Target =
  | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string | null }
  | { kind: "url"; url: string; headers: Record<string, string> };

export interface ToolList {
  tools: ToolLine[];
  total: number;
}

export interface ToolLine {
  tool_path: string;
  description: string;
  signature: string;
  tokens: number | null;
  /** What it does, by its own words or a rule of the configuration. */
  category: string;
  complexity: "simple" | "moderate" | "complex";
  /** How many definitions it has had; 0 where that is not known. */
  version: number;
  first_seen_ms: number | null;
  changed_ms: number | null;
  why?: string;
  nature: Nature;
  permit: Permit;
  rule: string;
}

export interface Log {
  path: string;
  lines: string[];
}

/** Servers that can be added. Texts for people come by language. */
export interface Listing {
  made: string;
  tokenizer: string;
  entries: Listed[];
}

export type Texts = Record<string, string>;

export interface Listed {
  id: string;
  title: string;
  publisher: string;
  about: Texts;
  topics: string[];
  target: Target;
  needs: Need[];
  runtime: string | null;
  home: string | null;
  measured: Measured | null;
  tools: ListedTool[];
}

export interface Need {
  name: string;
  kind: "secret" | "text" | "path";
  label: Texts;
  optional: boolean;
  get: string | null;
}

export interface Measured {
  tools: number;
  tokens: number;
  version: string;
  on: string;
}

export interface ListedTool {
  name: string;
  about: string;
  kind: "reads" | "writes" | "deletes" | "unstated";
}

/** Why a wish was not fulfilled. */
export interface Refusal {
  code: string;
  message: string;
  action: string;
}

/** What this program is and where it keeps its files. */
export interface About {
  version: string;
  config_file: string;
  logs: string;
  /** Can servers be walled in on this system? */
  walls: boolean;
}
