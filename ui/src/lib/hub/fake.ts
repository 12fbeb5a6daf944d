// A hub in memory, for a browser without Tauri and for component tests. It behaves; it does not pretend to serve.
import { parse as parseToml } from "smol-toml";
import type { About, ApprovalList, HubState, Log, PackageView, Permit, Pinned, Refusal, Refused, ServerApprovals, ServerState, ServerView, Snapshot, ToolList, Wish } from "./bindings";
import type { Hub, Choices } from "./hub";
import * as pretend from "./pretend";
import type { KnownClient, KnownClients, ProposedWish } from "./proposed";

export interface FakeHub extends Hub {
  /** Replaces the state, as if the core had said so. */
  become(state: HubState): void;
  /** Changes one server of the snapshot. */
  change(name: string, what: Partial<ServerView> & Partial<ServerState>): void;
  /** Asks the window to show a place. */
  go(path: string): void;
  /** Closes the window for the first time. */
  close(): void;
  /** Is the window hidden? */
  readonly hidden: boolean;
  /** Every wish that was made, in order. */
  readonly wishes: (Wish | ProposedWish)[];
  /** What was copied last. */
  readonly copied: string | undefined;
  /** Answers the next wish of this kind with a refusal. */
  refuseNext(kind: (Wish | ProposedWish)["do"], refusal: Refusal): void;
}

export function server(name: string, state: ServerState, more: Partial<ServerView> = {}): ServerView {
  return {
    name,
    title: null,
    place: "computer",
    enabled: state.state !== "off",
    startup: "lazy",
    pid: state.state === "ready" ? 4211 : null,
    tools: 6,
    tokens: 1180,
    resources: 0,
    skipped: [],
    held: 0,
    not_started: null,
    unseen: null,
    runs: `npx -y ${name}`,
    idle_timeout_seconds: 180,
    sandbox: null,
    starts: 1,
    calls: 12,
    wake_ms: 900,
    fresh: false,
    last_failure: null,
    usage: { processes: null, memory_bytes: null, cpu_percent: null, restarts: 0, noise: 0 },
    ...more,
    ...state,
  } as ServerView;
}

export function snapshot(servers: ServerView[], more: Partial<Snapshot> = {}): Snapshot {
  return { version: 1, endpoint: "http://127.0.0.1:7411/mcp", notices: [], servers, clients: [], avoided: { clients: 0, processes: 0, memory_bytes: 0, formula: "" }, ledger: { newest: 0, calls_hour: 0, failures_hour: 0, net_today: 0, records: true, learns: true }, paused: null, asks: [], ...more };
}

/** A hub that serves. */
export const open = (snapshot: Snapshot, refused: Refused | null = null): HubState => ({ hub: "open", snapshot, refused });

/** What the fake hub tells beside its snapshot. */
export interface Telling {
  /** What there is to look at. */
  approvals?: ServerApprovals[];
  /** So many calls were made. */
  calls?: number;
  /** So many days have savings. */
  days?: number;
  clients?: KnownClients;
  /** What cannot be brought, and why. */
  stays?: { place: string; reason: string }[];
  /** What launchers fetch, by server. */
  packages?: Record<string, PackageView>;
  found?: boolean;
}

export function fakeHub(initial: HubState, telling: Telling = {}): FakeHub {
  const began = Date.now();
  const calls = pretend.calls(telling.calls ?? 0, began);
  const none: KnownClients = { looked: 41, clients: [] };
  let known = telling.clients ?? none;
  let moved = known;
  const reclient = (id: string, what: Partial<KnownClient>): KnownClients => ({
    ...known,
    clients: known.clients.map((client) => (client.id === id ? { ...client, ...what } : client)),
  });
  let state = initial;
  let atLogin = false;
  let copied: string | undefined;
  const wishes: (Wish | ProposedWish)[] = [];
  const refusals = new Map<(Wish | ProposedWish)["do"], Refusal>();
  const heardState = new Set<(state: HubState) => void>();
  const permits = new Map<string, Permit>();
  let hidden = false;
  const heardClosing = new Set<() => void>();
  const heardGo = new Set<(path: string) => void>();

  const become = (next: HubState) => {
    state = next;
    for (const heard of heardState) heard(next);
  };
  const rearrange = (arrange: (servers: ServerView[]) => ServerView[]) => {
    if (state.hub !== "open") return;
    const { snapshot } = state;
    const servers = arrange(snapshot.servers).sort((a, b) => a.name.localeCompare(b.name));
    become(open({ ...snapshot, version: snapshot.version + 1, servers }));
  };
  const change: FakeHub["change"] = (name, what) =>
    rearrange((servers) => servers.map((one) => (one.name === name ? ({ ...one, ...what } as ServerView) : one)));

  const packages = new Map(Object.entries(telling.packages ?? {}));
  const removed = new Map<string, ServerView>();
  const entryText = (name: string) => [JSON.stringify(entryOf(name))];
  const entries = new Map<string, Record<string, unknown>>();
  const entryOf = (name: string) => {
    const one = state.hub === "open" ? state.snapshot.servers.find((server) => server.name === name) : undefined;
    const [command, ...args] = (one?.runs ?? "").split(" ");
    const plain = one?.place === "hosted" ? { url: one.runs, headers: { Authorization: "••••••••" } } : { command, args, env: { LOG_LEVEL: "info" } };
    return entries.get(name) ?? plain;
  };

  const fulfil = (wish: Wish | ProposedWish): unknown => {
    switch (wish.do) {
      case "change":
        switch (wish.change) {
          case "set_permit":
            if (wish.permit) permits.set(wish.tool, wish.permit);
            else permits.delete(wish.tool);
            return {};
          case "set_enabled":
            change(wish.name, { enabled: wish.enabled, ...(wish.enabled ? { state: "asleep" } : { state: "off" }) });
            return {};
          case "set_sandbox":
            change(wish.name, { sandbox: wish.sandbox });
            return {};
          case "set_learning":
            if (state.hub === "open")
              become(open({ ...state.snapshot, version: state.snapshot.version + 1, ledger: { ...state.snapshot.ledger, learns: wish.learn } }));
            return {};
          case "edit": {
            entries.set(wish.name, wish.entry);
            const { command, args, url, startup, idleTimeout } = wish.entry as { command?: string; args?: string[]; url?: string; startup?: ServerView["startup"]; idleTimeout?: number };
            change(wish.name, {
              runs: url ?? [command, ...(args ?? [])].join(" "),
              startup: startup ?? "lazy",
              idle_timeout_seconds: typeof idleTimeout === "number" ? idleTimeout : 180,
            });
            return {};
          }
          case "duplicate":
            rearrange((servers) => servers.flatMap((one) => (one.name === wish.name ? [one, { ...one, name: wish.to }] : [one])));
            return {};
          case "remove":
            if (state.hub === "open") removed.set(wish.name, state.snapshot.servers.find((one) => one.name === wish.name)!);
            rearrange((servers) => servers.filter((one) => one.name !== wish.name));
            return {};
          case "add": {
            const { target } = wish;
            const runs = target.kind === "url" ? target.url : [target.command, ...target.args].join(" ");
            const added = server(wish.name, { state: "asleep" }, {
              place: target.kind === "url" ? "hosted" : "computer",
              runs,
              tools: null,
              tokens: null,
              resources: null,
              wake_ms: null,
              starts: 0,
              calls: 0,
            });
            rearrange((servers) => [...servers.filter((one) => one.name !== wish.name), added]);
            return {};
          }
        }
        return {};
      case "own_secrets":
        return { names: entryText(wish.server).flatMap((text) => [...text.matchAll(/\$\{secret:([^}]+)\}/g)].map((match) => match[1]!)) };
      case "package":
        return packages.get(wish.server) ?? null;
      case "pin": {
        const floats = packages.get(wish.server)!;
        const version = wish.version ?? floats.fetched[0]!;
        const named = floats.example.replace("1.2.3", version);
        packages.set(wish.server, { ...floats, package: named, version, digest: pretend.digest });
        rearrange((servers) => servers.map((one) => (one.name === wish.server ? { ...one, runs: one.runs.replace(floats.package, named) } : one)));
        return { package: floats.package, version } satisfies Pinned;
      }
      case "put_back": {
        const back = removed.get(wish.server);
        if (back) rearrange((servers) => [...servers, back]);
        return {};
      }
      case "entry":
        return entryOf(wish.server);
      case "rest":
        change(wish.server, { state: "asleep" });
        return {};
      case "pause":
      case "resume":
        if (state.hub === "open")
          become(open({ ...state.snapshot, version: state.snapshot.version + 1, paused: wish.do === "pause" ? { until_ms: wish.until_ms } : null }));
        return {};
      case "listing":
        return pretend.listing(wish.query);
      case "activity":
        return pretend.activity(calls, wish, began);
      case "last_day":
        return pretend.lastDay(calls, began);
      case "call_detail":
        return pretend.detail(calls, wish.id);
      case "report":
        return telling.days ? pretend.report(wish.by, wish.days === null ? telling.days : Math.min(telling.days, wish.days), began) : pretend.noReport(wish.by);
      case "run_again":
        return { content: [{ type: "text", text: "done" }] };
      case "clients":
        return known;
      case "preview_connect":
        return pretend.preview(known.clients.find((client) => client.id === wish.client)?.path ?? "");
      case "connect_client":
      case "undo_connect": {
        const next = wish.do === "connect_client" ? ({ state: "added", can_undo: true } as const) : ({ state: "found", can_undo: false } as const);
        known = reclient(wish.client, next);
        return {};
      }
      case "set_surface":
        known = reclient(wish.client, { surface: wish.surface, effective: wish.surface === "direct" ? "direct" : "router" });
        return {};
      case "set_hidden": {
        const before = known.clients.find((client) => client.id === wish.client)?.hidden ?? [];
        const rest = before.filter((path) => path !== wish.path);
        known = reclient(wish.client, { hidden: wish.hidden ? [...rest, wish.path] : rest });
        return {};
      }
      case "move_in":
        moved = known;
        known = reclient(wish.client, { duplicates: [] });
        return {};
      case "move_back":
        known = moved;
        return {};
      case "found_servers":
        return telling.found ? pretend.foundServers : { servers: [] };
      case "import":
        return { left: telling.stays ?? [] };
      case "dismiss_failure":
        change(wish.server, { last_failure: null });
        return {};
      case "restart":
        change(wish.server, { last_failure: null, fresh: false, state: "ready", in_flight: 0, sleeps_at_ms: Date.now() + 180_000 });
        return {};
      case "tools": {
        const names = ["search_issues", "create_issue", "get_file_contents", "list_pull_requests", "merge_pull_request"];
        const tools = names.map((name, at) => ({
          tool_path: `${wish.server ?? "github"}:${name}`,
          description: `${name.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase())}.`,
          signature: `${name}(owner: string, repo: string)`,
          tokens: 142 + at * 31,
          category: ["searching", "writing", "reading", "reading", "other"][at] ?? "other",
          complexity: at === 1 ? ("moderate" as const) : ("simple" as const),
          version: at === 3 ? 2 : 1,
          first_seen_ms: Date.now() - 9 * 86_400_000,
          changed_ms: at === 3 ? Date.now() - 2 * 86_400_000 : null,
          nature: pretend.nature(at === 1 || at === 4 ? "writes" : "reads"),
          permit: permits.get(`${wish.server ?? "github"}:${name}`) ?? "allow",
          rule: at === 1 || at === 4 ? "what writes is allowed" : "what reads is allowed",
        }));
        return { tools, total: tools.length } satisfies ToolList;
      }
      case "approvals":
        return {
          servers: (telling.approvals ?? []).filter((one) => wish.server === null || one.server === wish.server),
          settings: null,
        } satisfies ApprovalList;
      case "answer_ask":
        if (state.hub === "open")
          become(open({ ...state.snapshot, version: state.snapshot.version + 1, asks: state.snapshot.asks.filter((ask) => ask.id !== wish.id) }));
        return {};
      case "reading_ask":
      case "approve":
      case "keep_held":
      case "looked_at":
        return {};
      case "log":
        return {
          path: `/home/you/.local/state/satchel/logs/${wish.server}.log`,
          lines: [
            `2026-11-21T09:14:02.120Z satchel: starting ${wish.server}`,
            "2026-11-21T09:14:03.004Z stderr: Secure MCP Filesystem Server running on stdio",
            "2026-11-21T09:14:03.020Z satchel: ready after 0.9 s, protocol 2025-06-18",
            "2026-11-21T09:16:40.771Z stderr: read_text_file: ENOENT: no such file or directory, open '/home/you/work/notes.md'",
          ],
        } satisfies Log;
      case "secret_names":
        return { names: ["GITHUB_TOKEN"], store: "keychain" };
      case "use_vault":
      case "unlock_vault":
      case "delete_history":
      case "forget_habits":
      case "set_secret":
      case "remove_secret":
        return {};
    }
  };

  let chosen: Choices = { notifications: "all", closing: "serve", tray: true };
  return {
    choices: () => Promise.resolve(chosen),
    choose: (choices) => Promise.resolve(void (chosen = choices)),
    readToml: (text) => {
      try {
        return Promise.resolve(parseToml(text));
      } catch (cause) {
        return Promise.reject({ code: "not_toml", message: cause instanceof Error ? cause.message : String(cause), action: "" });
      }
    },
    state: () => Promise.resolve(state),
    onState: (heard) => {
      heardState.add(heard);
      return Promise.resolve(() => heardState.delete(heard));
    },
    onGo: (heard) => {
      heardGo.add(heard);
      return Promise.resolve(() => heardGo.delete(heard));
    },
    onClosing: (heard) => {
      heardClosing.add(heard);
      return Promise.resolve(() => heardClosing.delete(heard));
    },
    closeWindow: () => {
      hidden = true;
      return Promise.resolve();
    },
    wish: <Answer>(wish: Wish | ProposedWish) => {
      wishes.push(wish);
      const refusal = refusals.get(wish.do);
      if (refusal) {
        refusals.delete(wish.do);
        if (wish.do === "change" && wish.change === "set_enabled" && state.hub === "open")
          become(open(state.snapshot, { server: wish.name, refusal }));
        return Promise.reject(refusal);
      }
      return Promise.resolve(fulfil(wish) as Answer);
    },
    about: () =>
      Promise.resolve({
        version: "0.1.0",
        config_file: "/home/you/.config/satchel/config.json",
        logs: "/home/you/.local/state/satchel/logs",
        walls: true,
      } satisfies About),
    startsAtLogin: () => Promise.resolve(atLogin),
    setStartsAtLogin: (on) => Promise.resolve((atLogin = on)),
    copy: (text) => {
      copied = text;
      return Promise.resolve();
    },
    tryAgain: () => Promise.resolve(become({ hub: "opening" })),
    quit: () => Promise.resolve(),
    become,
    change,
    go: (path) => heardGo.forEach((heard) => heard(path)),
    close: () => heardClosing.forEach((heard) => heard()),
    get hidden() {
      return hidden;
    },
    wishes,
    get copied() {
      return copied;
    },
    refuseNext: (kind, refusal) => void refusals.set(kind, refusal),
  };
}
