// A hub in memory, for a browser without Tauri and for component tests. It behaves; it does not pretend to serve.
import type { About, Answer, ApprovalList, Choices, ClientList, ClientState, Findings, FollowedSetup, HubState, Imported, Installed, InstalledServer, InstallPlan, KnownClient, Left, OwnPlace, OwnSkill, PackageView, PageEvent, PageSaid, PageTold, Permit, Pinned, PinnedView, ProfilesView, Refusal, Refused, Remark, Request, ServerApprovals, ServerLog, ServerState, ServerView, SignInPage, SignInState, SignInView, Snapshot, TakenSetup, Target, ToolList, Tried, TryProgress, UpdatesView, WrittenSetup } from "./generated";
import type { Hub } from "./hub";
import * as pretend from "./pretend";
import { skillsOf } from "./pretendSkills";
import * as tools from "./pretendTools";

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
  /** Everything that was asked, in order. */
  readonly requests: Request[];
  /** The text copied last. */
  readonly copied: string | undefined;
  /** The page that was opened last. */
  readonly opened: string | undefined;
  /** What pages of servers were told, in order. */
  readonly pagesTold: { id: string; told: PageTold | "closed" }[];
  /** The windows that were brought to the front, in order. */
  readonly raised: (string | null)[];
  /** The window of a page says something. */
  pageSays(id: string, said: PageSaid): void;
  /** The file or folder of Satchel's that was opened last. */
  readonly openedPlace: OwnPlace | undefined;
  /** The answer of the system's file dialog from now on. */
  chooseNext(path: string | null): void;
  /** The available update. */
  tellUpdates(told: UpdatesView): void;
  /** Answers the next request of this method with a refusal. */
  refuseNext(kind: Request["do"], refusal: Refusal): void;
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
    prompts: 0,
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
    sign_in: null,
    share: null,
    usage: { processes: null, memory_bytes: null, cpu_percent: null, memory_most_bytes: null, cpu_most_percent: null, restarts: 0, noise: 0 },
    ...more,
    ...state,
  } as ServerView;
}

export function snapshot(servers: ServerView[], more: Partial<Snapshot> = {}): Snapshot {
  return { version: 1, endpoint: "http://127.0.0.1:7411/mcp", notices: [], servers, clients: [], avoided: { clients: 0, processes: 0, memory_bytes: 0, formula: "" }, ledger: { newest: 0, counted: 1, calls_hour: 0, failures_hour: 0, net_today: 0, records: true, learns: true, days: 30 }, paused: null, asks: [], profiles: { active: null, all: [], folders: [] }, pinned: [], pictures: { shown: false, mark: "" }, listed: 0, ...more };
}

/** A hub that serves. */
export const open = (snapshot: Snapshot, refused: Refused | null = null): HubState => ({ hub: "open", snapshot, refused });

/** What the fake hub tells beside its snapshot. */
export interface Telling {
  /** The items to review. */
  approvals?: ServerApprovals[];
  /** So many calls were made. */
  calls?: number;
  /** Nothing is kept of calls. */
  unkept?: boolean;
  /** So many days have savings. */
  days?: number;
  clients?: ClientList;
  /** What cannot be brought, and why. */
  stays?: Left[];
  /** Files of clients that cannot be read. */
  unread?: Left[];
  /** The page was made anew. */
  renewed?: boolean;
  /** Entries in clients' files that Satchel cannot use. */
  skipped?: Left[];
  /** Remarks of an import. */
  remarks?: Remark[];
  /** The encrypted file of secrets is locked. */
  locked?: boolean;
  /** What launchers fetch, by server. */
  packages?: Record<string, PackageView>;
  found?: boolean;
  /** So many servers are in registries. */
  listed?: number;
  /** What installing a server of a registry would do. */
  plan?: InstallPlan;
  /** What is in a text or file, instead of the usual. */
  described?: Findings;
  /** Versions that are newer than what runs, by server. */
  newer?: Record<string, string>;
  /** Pictures of servers. */
  icons?: Record<string, string>;
  /** The folder that is followed. */
  folder?: string;
  /** A setup that is imported has secrets. */
  sealed?: boolean;
  /** Do providers take tokens back? */
  revoked?: boolean;
  /** Tools that are tried do not end by themselves. */
  slow?: boolean;
  /** The person's skills. */
  skills?: OwnSkill[];
  /** Servers that want a sign-in as soon as they are added. */
  closed?: string[];
}

export function fakeHub(initial: HubState, telling: Telling = {}): FakeHub {
  const began = Date.now();
  const calls = pretend.calls(telling.calls ?? 0, began);
  const none: ClientList = { clients: [] };
  let known = telling.clients ?? none;
  let followed: FollowedSetup = { folder: telling.folder ?? null, computer: "desk-77c1", others: telling.folder ? [pretend.setupReview("laptop-3f9a", false)] : [], troubles: [] };
  let moved = known;
  const skills = skillsOf(telling.skills ?? []);
  const reclient = (id: string, what: Partial<KnownClient> & Partial<ClientState>): ClientList => ({
    ...known,
    clients: known.clients.map((client) => (client.id === id ? ({ ...client, ...what } as KnownClient) : client)),
  });
  let state = initial;
  let atLogin = false;
  let copied: string | undefined;
  let opened: string | undefined;
  let openedPlace: OwnPlace | undefined;
  let chosenFile: string | null = null;
  const requests: Request[] = [];
  const refusals = new Map<Request["do"], Refusal>();
  const heardState = new Set<(state: HubState) => void>();
  const permits = new Map<string, Permit>();
  let hidden = false;
  const heardPages = new Set<(event: PageEvent) => void>();
  const pagesTold: FakeHub["pagesTold"] = [];
  const raised: (string | null)[] = [];
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
  const added = (name: string, target: Target) => {
    const runs = target.kind === "url" ? target.url : [target.command, ...target.args].join(" ");
    const one = server(name, { state: "asleep" }, {
      place: target.kind === "url" ? "hosted" : "computer",
      runs,
      tools: null,
      tokens: null,
      resources: null,
      prompts: null,
      wake_ms: null,
      starts: 0,
      calls: 0,
    });
    rearrange((servers) => [...servers.filter((other) => other.name !== name), one]);
    if (telling.closed?.includes(name)) {
      const sign_in: SignInView = { sign_in: "signed_out", account: null, provider: "auth.example.com", scopes: [], since_ms: Date.now() };
      change(name, { state: "needs_sign_in", message: "", sign_in });
    }
  };

  const reprofile = (change: (profiles: ProfilesView) => ProfilesView): object => {
    if (state.hub === "open") become(open({ ...state.snapshot, version: state.snapshot.version + 1, profiles: change(state.snapshot.profiles) }));
    return {};
  };

  const serverNamed = (name: string) => (state.hub === "open" ? state.snapshot.servers.find((server) => server.name === name) : undefined);
  const running = new Map<string, () => void>();
  const packages = new Map(Object.entries(telling.packages ?? {}));
  const removed = new Map<string, ServerView>();
  const entryText = (name: string) => [JSON.stringify(entryOf(name))];
  const entries = new Map<string, Record<string, unknown>>();
  const entryOf = (name: string): Record<string, unknown> => {
    const one = serverNamed(name);
    const [command, ...args] = (one?.runs ?? "").split(" ");
    const plain = one?.place === "hosted" ? { url: one.runs, headers: { Authorization: "••••••••" } } : { command, args, env: { LOG_LEVEL: "info" } };
    return entries.get(name) ?? plain;
  };

  const stand = (name: string, stands: SignInState, state: ServerState): object => {
    const before = serverNamed(name)?.sign_in;
    change(name, { ...state, sign_in: { account: null, provider: "auth.example.com", scopes: [], ...before, since_ms: Date.now(), ...stands } as SignInView });
    return {};
  };
  const handle = (request: Request): unknown => {
    switch (request.do) {
      case "change":
        switch (request.change) {
          case "set_permit":
            if (request.permit) permits.set(request.tool, request.permit);
            else permits.delete(request.tool);
            return {};
          case "set_enabled":
            change(request.name, { enabled: request.enabled, ...(request.enabled ? { state: "asleep" } : { state: "off" }) });
            return {};
          case "set_keep_calls": {
            const { keepCalls: _, ...rest } = entryOf(request.name);
            entries.set(request.name, request.keep ? { ...rest, keepCalls: true } : rest);
            return {};
          }
          case "set_share":
            change(request.name, { share: request.share && { share: request.share, chosen: true, keeps: null, project: false, instances: [] } });
            return {};
          case "set_sandbox":
            change(request.name, { sandbox: request.sandbox });
            return {};
          case "set_learning":
            if (state.hub === "open")
              become(open({ ...state.snapshot, version: state.snapshot.version + 1, ledger: { ...state.snapshot.ledger, learns: request.learn } }));
            return {};
          case "set_pictures":
            if (state.hub === "open") become(open({ ...state.snapshot, version: state.snapshot.version + 1, pictures: { shown: request.show, mark: String(request.show) } }));
            return {};
          case "pin_tool": {
            const { pin, pinned } = request;
            const same = (other: PinnedView) => other.pin.tool === pin.tool && other.pin.client == pin.client && other.pin.profile == pin.profile;
            if (state.hub === "open") {
              const others = state.snapshot.pinned.filter((other) => !same(other));
              become(open({ ...state.snapshot, version: state.snapshot.version + 1, pinned: pinned ? [...others, { pin, path: pin.tool }] : others }));
            }
            return {};
          }
          case "use_profile":
            return reprofile((profiles) => ({ ...profiles, active: request.name }));
          case "put_profile": {
            const one = { name: request.name, profile: request.profile, unknown: [], clients: [], fault: null };
            return reprofile(({ active, all, folders }) => ({
              active: active !== null && active === request.was ? request.name : active,
              all: [...all.filter((other) => other.name !== request.was), one].sort((a, b) => a.name.localeCompare(b.name)),
              folders,
            }));
          }
          case "remove_profile":
            return reprofile((profiles) => ({ ...profiles, all: profiles.all.filter((one) => one.name !== request.name) }));
          case "edit": {
            entries.set(request.name, request.entry);
            const { command, args, url, startup, idleTimeout } = request.entry as { command?: string; args?: string[]; url?: string; startup?: ServerView["startup"]; idleTimeout?: number };
            change(request.name, {
              runs: url ?? [command, ...(args ?? [])].join(" "),
              startup: startup ?? "lazy",
              idle_timeout_seconds: typeof idleTimeout === "number" ? idleTimeout : 180,
            });
            return {};
          }
          case "duplicate":
            rearrange((servers) => servers.flatMap((one) => (one.name === request.name ? [one, { ...one, name: request.to }] : [one])));
            return {};
          case "remove":
            if (state.hub === "open") removed.set(request.name, state.snapshot.servers.find((one) => one.name === request.name)!);
            rearrange((servers) => servers.filter((one) => one.name !== request.name));
            return {};
          case "add": {
            added(request.name, request.target);
            return {};
          }
        }
        return {};
      case "begin_sign_in": {
        const page: SignInPage = { url: "https://auth.example.com/authorize?state=s", host: "auth.example.com", redirect: "http://127.0.0.1:41000/callback", until_ms: Date.now() + 300_000 };
        stand(request.server, { sign_in: "signing_in", until_ms: page.until_ms }, { state: "asleep" });
        return page;
      }
      case "paste_sign_in":
        return stand(request.server, { sign_in: "signed_in", ends_ms: null, renews: true }, { state: "asleep" });
      case "sign_out":
        stand(request.server, { sign_in: "signed_out" }, { state: "needs_sign_in", message: "" });
        change(request.server, { sign_in: { ...serverNamed(request.server)!.sign_in!, account: null, scopes: [] } });
        return { was_in: true, revoked: telling.revoked ?? null };
      case "cancel_sign_in":
      case "enter_client":
        return stand(request.server, { sign_in: "signed_out" }, { state: "needs_sign_in", message: "" });
      case "own_secrets":
        return { names: entryText(request.server).flatMap((text) => [...text.matchAll(/\$\{secret:([^}]+)\}/g)].map((match) => match[1]!)) };
      case "package":
        return packages.get(request.server) ?? null;
      case "pin": {
        const floats = packages.get(request.server)!;
        const version = request.version ?? floats.fetched[0]!;
        const named = floats.example.replace("1.2.3", version);
        packages.set(request.server, { ...floats, package: named, version, digest: pretend.digest });
        rearrange((servers) => servers.map((one) => (one.name === request.server ? { ...one, runs: one.runs.replace(floats.package, named) } : one)));
        return { package: floats.package, version } satisfies Pinned;
      }
      case "put_back": {
        const back = removed.get(request.server);
        if (back) rearrange((servers) => [...servers, back]);
        return {};
      }
      case "entry":
        return entryOf(request.server);
      case "rest":
        change(request.server, { state: "asleep" });
        return {};
      case "pause":
      case "resume":
        if (state.hub === "open")
          become(open({ ...state.snapshot, version: state.snapshot.version + 1, paused: request.do === "pause" ? { until_ms: request.until_ms } : null }));
        return {};
      case "installed":
        return Object.entries(telling.newer ?? {}).map(([name, newer]) => ({ server: name, name: `io.github.acme/${name}`, version: "1.0.0", newer, status: "active", status_message: null, remarks: [], kept: false }) satisfies InstalledServer);
      case "plan_install": {
        const { missing, consents, ...plan } = telling.plan ?? pretend.installPlan({ called: request.name });
        const open = (id: string) => !(id in request.answers);
        return { ...plan, missing: missing.filter(open), consents: consents.filter(({ id }) => open(id)) } satisfies InstallPlan;
      }
      case "install_listed":
        if (!telling.plan) added(request.name, pretend.listing("").entries.find((one) => one.id === request.name)!.target);
        return { server: telling.plan?.called ?? request.name, version: telling.plan?.version ?? "1.0.0", secrets: 0, held: false } satisfies Installed;
      case "search_listed":
        return pretend.listed(telling.listed ?? 0, request.offset, request.limit);
      case "listing":
        return pretend.listing(request.query);
      case "activity":
        return pretend.activity(calls, request, began);
      case "last_day":
        return pretend.lastDay(calls, began);
      case "call_detail":
        return pretend.detail(calls, request.id, entryOf(pretend.serverOf(calls, request.id)).keepCalls === true || !telling.unkept);
      case "server_day":
        return pretend.serverDay(calls, request.server, began);
      case "offered":
        return tools.offered;
      case "read_offered":
        return { result: tools.readOffered(request.what), took_ms: 38 } satisfies Tried;
      case "doctor":
        return pretend.examination;
      case "report":
        return telling.days ? pretend.report(request.by, request.days === null ? telling.days : Math.min(telling.days, request.days), began) : pretend.noReport(request.by);
      case "tool":
        return tools.tool(request.tool_path);
      case "try_tool":
        return new Promise((done) => {
          const answer = () => done({ result: tools.result(request.tool_path, request.arguments), took_ms: 412 } satisfies Tried);
          if (telling.slow) running.set(request.run, answer);
          else answer();
        });
      case "try_script":
        return new Promise((done) => {
          const answer = () => done(pretend.script(request.script));
          if (telling.slow) running.set(request.run, answer);
          else answer();
        });
      case "follow_try":
        if (!running.has(request.run)) return { seen: request.seen, progress: null, total: null, message: null, log: [], over: true } satisfies TryProgress;
        return request.seen === 0 ? ({ seen: 1, progress: 3, total: 8, message: "Reading page 3", log: ["info Opened the archive"], over: false } satisfies TryProgress) : new Promise(() => {});
      case "cancel_try":
        running.get(request.run)?.();
        return {};
      case "own_skills":
      case "own_skill":
      case "add_skill":
      case "give_skill":
      case "take_skill":
      case "remove_skill":
        return skills(request);
      case "list_clients":
        return known;
      case "connect_client": {
        const client = known.clients.find((one) => one.id === request.client)!;
        if (!request.dry_run) known = reclient(request.client, { state: "added" });
        return pretend.preview(client);
      }
      case "disconnect_client": {
        const client = known.clients.find((one) => one.id === request.client)!;
        known = reclient(request.client, { state: "not_connected" });
        return pretend.preview(client);
      }
      case "set_surface":
        known = reclient(request.client, { surface: request.surface, effective: request.surface === "auto" ? "router" : request.surface });
        return {};
      case "set_hidden": {
        const before = known.clients.find((client) => client.id === request.client)?.hidden ?? [];
        const rest = before.filter((path) => path !== request.path);
        known = reclient(request.client, { hidden: request.hidden ? [...rest, request.path] : rest });
        return {};
      }
      case "bind_profile":
        known = reclient(request.client, { profile: request.profile });
        return {};
      case "undo":
        known = moved;
        return { what: "", remarks: [] };
      case "find_servers":
        if (telling.described) return telling.described;
        if (typeof request.from === "object" && "text" in request.from) return pretend.read(request.from.text);
        return { servers: telling.found ? pretend.foundServers.servers : [], skipped: telling.skipped ?? [], troubles: telling.unread ?? [] };
      case "import_servers":
        if (request.dry_run) {
          const { client } = request.from as { client: string };
          const diff = `-    "github": { "command": "docker" },\n`;
          const changes = [{ path: `~/.${client}/mcp.json`, what: "removed", entry: "github", diff }];
          return { added: [], known: [], secrets: 0, left: [], remarks: [], taken_out: ["github"], changes } satisfies Imported;
        }
        if (typeof request.from === "object" && "client" in request.from) {
          moved = known;
          known = reclient(request.from.client, { duplicates: [] });
        }
        if (typeof request.from === "object" && "text" in request.from) {
          for (const one of pretend.read(request.from.text).servers) added(request.named?.[one.name] ?? one.name, pretend.targetOf(one));
        }
        return { added: (request.names ?? []).map((name) => request.named?.[name] ?? name).filter((name) => !telling.stays?.some((one) => one.place === name)), known: [], secrets: 0, left: telling.stays ?? [], remarks: telling.remarks ?? [], taken_out: [], changes: [] } satisfies Imported;
      case "dismiss_failure":
        change(request.server, { last_failure: null });
        return {};
      case "restart":
        change(request.server, { last_failure: null, fresh: false, state: "ready", in_flight: 0, sleeps_at_ms: Date.now() + 180_000 });
        return {};
      case "tools": {
        const lines = tools.toolNames.map((name, at) => ({
          tool_path: `${request.server ?? "github"}:${name}`,
          description: `${name.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase())}.`,
          signature: `${name}(owner: string, repo: string)`,
          tokens: 142 + at * 31,
          category: ["searching", "writing", "reading", "reading", "other"][at] ?? "other",
          complexity: at === 1 ? ("moderate" as const) : ("simple" as const),
          version: at === 3 ? 2 : 1,
          first_seen_ms: Date.now() - 9 * 86_400_000,
          changed_ms: at === 3 ? Date.now() - 2 * 86_400_000 : null,
          nature: pretend.nature(at === 1 || at === 4 ? "writes" : "reads"),
          permit: permits.get(`${request.server ?? "github"}:${name}`) ?? "allow",
          rule: at === 1 || at === 4 ? "tools that write: allowed" : "tools that read: allowed",
        }));
        return { tools: lines, total: lines.length } satisfies ToolList;
      }
      case "approvals":
        return {
          servers: (telling.approvals ?? []).filter((one) => request.server === null || one.server === request.server),
          settings: null,
        } satisfies ApprovalList;
      case "server_icons":
        return { icons: telling.icons ?? {} };
      case "followed_setup":
        return followed;
      case "follow_setup":
        return (followed = { ...followed, folder: request.folder, others: request.folder ? [pretend.setupReview("laptop-3f9a", false)] : [] });
      case "read_setup":
        return pretend.setupReview("laptop-3f9a", telling.sealed ?? false);
      case "write_setup":
        return { path: request.path, servers: 12, others: 5, secrets: request.passphrase ? 2 : 0, left: [] } satisfies WrittenSetup;
      case "take_setup":
        followed = { ...followed, others: [] };
        return { taken: request.parts.map((part) => part.id), secrets: request.passphrase ? 1 : 0, off: [], waits: false, left: [] } satisfies TakenSetup;
      case "keep_setup":
        followed = { ...followed, others: [] };
        return {};
      case "answer_ask":
        if (state.hub === "open")
          become(open({ ...state.snapshot, version: state.snapshot.version + 1, asks: state.snapshot.asks.filter((ask) => ask.id !== request.id) }));
        return {};
      case "reading_ask":
      case "approve":
      case "keep_held":
      case "looked_at":
        return {};
      case "log":
        return {
          path: `/home/you/.local/state/satchel/logs/${request.server}.log`,
          lines: [
            `2026-11-21T09:14:02.120Z satchel: starting ${request.server}`,
            "2026-11-21T09:14:03.004Z stderr: Secure MCP Filesystem Server running on stdio",
            "2026-11-21T09:14:03.020Z satchel: ready after 0.9 s, protocol 2025-06-18",
            "2026-11-21T09:16:40.771Z stderr: read_text_file: ENOENT: no such file or directory, open '/home/you/work/notes.md'",
          ],
        } satisfies ServerLog;
      case "secret_names":
        return telling.locked ? { names: ["GITHUB_TOKEN"], store: "file", locked: true } : { names: ["GITHUB_TOKEN"], store: "keychain", locked: false };
      case "use_vault":
      case "unlock_vault":
      case "delete_history":
      case "forget_habits":
      case "set_secret":
      case "enter_variable":
      case "remove_secret":
        return {};
    }
  };

  let chosen: Choices = { notifications: "all", closing: "serve", tray: true, updates: "not_asked", language: null, appearance: "system" };
  let updates: UpdatesView = { known: true, by: "itself", now: { standing: "unknown" }, taken_back: null };
  return {
    choices: () => Promise.resolve(chosen),
    choose: (choices) => Promise.resolve(void (chosen = choices)),
    wasRenewed: () => Promise.resolve(telling.renewed ?? false),
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
    questionInPage: () => Promise.resolve(),
    closeWindow: () => {
      hidden = true;
      return Promise.resolve();
    },
    ask: <Asked extends Request>(request: Asked) => {
      requests.push(request);
      const refusal = refusals.get(request.do);
      if (refusal) {
        refusals.delete(request.do);
        if (request.do === "change" && request.change === "set_enabled" && state.hub === "open")
          become(open(state.snapshot, { server: request.name, refusal }));
        return Promise.reject(refusal);
      }
      return Promise.resolve(handle(request) as Answer<Asked>);
    },
    about: () =>
      Promise.resolve({
        version: "0.1.0",
        config_file: "/home/you/.config/satchel/config.json",
        logs: "/home/you/.local/state/satchel/logs",
        sandbox: true,
      } satisfies About),
    startsAtLogin: () => Promise.resolve(atLogin),
    setStartsAtLogin: (on) => Promise.resolve((atLogin = on)),
    copy: (text) => {
      copied = text;
      return Promise.resolve();
    },
    openPage: (page) => {
      opened = page;
      return Promise.resolve();
    },
    showPage: (server, uri) => Promise.resolve(tools.page(server, uri)),
    onPage: (heard) => {
      heardPages.add(heard);
      return Promise.resolve(() => heardPages.delete(heard));
    },
    tellPage: (id, told) => Promise.resolve(void pagesTold.push({ id, told })),
    closePage: (id) => Promise.resolve(void pagesTold.push({ id, told: "closed" })),
    raise: (page) => Promise.resolve(void raised.push(page)),
    openPageLink: (_, address) => {
      opened = address;
      return Promise.resolve();
    },
    openPlace: (place) => {
      openedPlace = place;
      return Promise.resolve();
    },
    chooseFile: () => Promise.resolve(chosenFile),
    updates: () => Promise.resolve(updates),
    lookForUpdate: () => Promise.resolve((updates = { ...updates, now: { standing: "ready", version: "0.2.0", notes: "Servers start faster." } })),
    installUpdate: () => Promise.resolve((updates = { ...updates, now: { standing: "waiting", version: "0.2.0" } })),
    tellUpdates: (told) => void (updates = told),
    tryAgain: () => Promise.resolve(become({ hub: "opening" })),
    quit: () => Promise.resolve(),
    become,
    change,
    go: (path) => heardGo.forEach((heard) => heard(path)),
    pagesTold,
    raised,
    pageSays: (id, said) => heardPages.forEach((heard) => heard({ id, said })),
    close: () => heardClosing.forEach((heard) => heard()),
    get hidden() {
      return hidden;
    },
    requests,
    get copied() {
      return copied;
    },
    get openedPlace() {
      return openedPlace;
    },
    get opened() {
      return opened;
    },
    chooseNext: (path) => void (chosenFile = path),
    refuseNext: (kind, refusal) => void refusals.set(kind, refusal),
  };
}
