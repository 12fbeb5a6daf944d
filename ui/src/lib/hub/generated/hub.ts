// Written by `SATCHEL_WRITE_TYPES=1 cargo test -p satchel-core --lib typescript` from the Rust types. Not for editing.

/**
 * One line of the list of accounts.
 */
export type AccountLine = { server: string, account: string | null, provider: string | null, scopes: Array<string>, since_ms: number, } & ({ "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, });

/**
 * Which calls a page of activity shows.
 */
export type ActivityAsk = { before: number | null, limit: number, problems: boolean, asked: boolean, client: string | null, server: string | null, tool: string | null, session: number | null, from_ms: number | null, to_ms: number | null, profile?: string | null, };

/**
 * A page of calls, newest first, with the sessions they belong to.
 */
export type ActivityPage = { calls: Array<CallLine>, sessions: Array<SessionLine>, more: boolean, minutes: Array<Minute>, problems: number, asked: number, };

/**
 * A person's word about a call.
 */
export type AnswerAsk = { id: number, answer: AskAnswer, };

/**
 * A person's answer to a server's question.
 */
export type AnswerQuestion = { id: number, answer: QuestionAnswer, };

/**
 * A person's answer where a value is missing that a server cannot start without: it is stored, and the call that
 * waits for it goes on.
 */
export type AnswerSecret = { id: number, value: string, };

/**
 * One definition to look at. Hidden characters are written out in what is different and in what was found; its name is
 * as the server wrote it.
 */
export type ApprovalItem = { kind: DefinitionKind, name: string, fingerprint: string, held: Why | null, kept: boolean, diff: Array<DiffPart>, findings: Array<Finding>, };

/**
 * What there is to look at.
 */
export type ApprovalList = { servers: Array<ServerApprovals>, settings: SettingsChange | null, };

/**
 * A person looked at these definitions, and approves exactly them. One that has changed since is refused, and then
 * none is approved.
 */
export type Approve = { server: string, items: Array<Seen>, };

/**
 * Accepts the settings of the configuration file that wait, named by their fingerprint.
 */
export type ApproveSettings = { fingerprint: string, };

/**
 * A call that waits for a person's word. Hidden characters are written out in all of it, but for what an answer names.
 */
export type Ask = { id: number, client: string, server: string, tool: string, effect: Effect, stated: boolean, arguments: Array<AskArgument>, json: string, rule: string, since_ms: number, until_ms: number, question?: ServerQuestion | null, };

/**
 * A person's word about a call.
 */
export type AskAnswer = "once" | "session" | "always" | "no" | "mute";

/**
 * One argument as a person reads it.
 */
export type AskArgument = { title: string, value: string, };

/**
 * What waits for a person: one of each client before the second of any.
 */
export type AskList = { asks: Array<Ask>, };

/**
 * Whether registries are asked before an answer.
 */
export type AskRegistries = "if_due" | "meanwhile" | "now" | "never";

/**
 * What sharing saves at this moment, measured.
 */
export type Avoided = { clients: number, processes: number, memory_bytes: number, formula: string, };

/**
 * Begins a sign-in; whoever asked opens the page.
 */
export type BeginSignIn = { server: string, again?: boolean, };

/**
 * Binds a client to a profile, or lets it out of one.
 */
export type BindClient = { client: string, profile: string | null, };

/**
 * By what a report is divided.
 */
export type By = "client" | "server" | "tool" | "day";

/**
 * One call with everything that is known of it.
 */
export type CallDetail = { line: CallLine, session: SessionLine | null, wait_ms: number, start_ms: number, upstream_ms: number, ours_ms: number, request_bytes: number, result_bytes: number, request_tokens: number | null, result_tokens: number | null, rule: string, client_era: string, server_era: string | null, trace: string | null, arguments: string | null, result: string | null, inside: Array<CallLine>, script: number | null, route: Array<CallLine>, };

/**
 * One call in a list.
 */
export type CallLine = { id: number, time_ms: number, session: number, client: string, kind: string, server: string, tool: string, outcome: string, code: string | null, message: string | null, took_ms: number, waited_ms: number, woke_ms: number, tokens: number | null, argument: string | null, kept_out: number | null, };

/**
 * Gives up the sign-in that is under way.
 */
export type CancelSignIn = { server: string, };

/**
 * Cancels a call of [`TryTool`] or [`TryScript`].
 */
export type CancelTry = { run: string, };

/**
 * One of them.
 */
export type Caution = { code: CautionCode, parts: Array<string>, text: string, };

/**
 * What there is to say; the sentence is beside each in the source.
 */
export type CautionCode = "sets_loader" | "runs_several" | "tells_engine" | "shares_network" | "shares_processes" | "shares_namespaces" | "gives_every_right" | "passes_variable" | "weakens_isolation" | "hands_socket" | "mounts_disk" | "mounts_place" | "runs_other_package" | "tells_launcher" | "brings_other_code" | "has_credentials" | "breaks_header" | "sets_header" | "leads_inside" | "lacks_way" | "listens" | "has_two_ways" | "names_no_package" | "builds_with" | "has_unknown_kind" | "names_range" | "names_no_version" | "names_no_image" | "takes_image_from" | "names_no_digest" | "names_bad_digest" | "names_no_bundle" | "fetches_plain" | "fetches_inside" | "takes_package_from" | "speaks_over" | "names_bad_address" | "names_no_address" | "names_other_address" | "names_no_host" | "has_unexplained" | "has_bad_header" | "sets_bad_variable" | "has_unpassable" | "runs_another" | "tells_unknown" | "tells_harmful" | "takes_no_input" | "has_no_input" | "takes_one_value" | "needs_passable" | "needs_choice" | "needs_number" | "needs_boolean" | "needs_path" | "needs_host_part" | "needs_path_part" | "mixed_title" | "hidden_characters" | "other_owner" | "name_in_other_case" | "other_link" | "reads_like_order" | "other_launcher" | "bundle_checked" | "image_pinned" | "address_inside" | "address_plain" | "deprecated" | "deprecated_for" | "changed_in_place" | "held_package" | "known_there" | "said" | "deleted_there" | "deleted_for" | "not_listed" | "version_not_listed" | "not_listed_any_more" | "up_to_date" | "update_held" | "way_is_gone" | "release_changed" | "not_from_registry" | "still_needs" | "wants_consent" | "shown_before" | "image_unknown";

/**
 * One change of the configuration, from whichever face.
 */
export type Change = { "change": "add", name: string, target: Target, startup: Startup | null, era?: Era | null, replace: boolean, } | { "change": "put", name: string, entry: Record<string, unknown>, replace: boolean, rules?: unknown[], } | { "change": "edit", name: string, entry: Record<string, unknown>, } | { "change": "duplicate", name: string, to: string, } | { "change": "remove", name: string, } | { "change": "set_enabled", name: string, enabled: boolean, } | { "change": "set_permit", tool: string, client: string | null, permit: Permit | null, } | { "change": "set_keep_calls", name: string, keep: boolean, } | { "change": "set_sandbox", name: string, sandbox: Sandbox | null, } | { "change": "set_learning", learn: boolean, } | { "change": "set_pictures", show: boolean, } | { "change": "use_profile", name: string | null, } | { "change": "put_profile", name: string, was: string | null, profile: Profile, } | { "change": "remove_profile", name: string, } | { "change": "bind_folder", folder: string, profile: string | null, };

/**
 * What a server says a tool does. Nobody checks it.
 */
export type Claim = "reads" | "writes" | "deletes" | "unstated";

/**
 * What was written, or would be.
 */
export type ClientChange = { client: string, name: string, done: boolean, files: Array<FileChange>, next: string | null, warnings: Array<string>, snippet: string | null, };

/**
 * Every client.
 */
export type ClientList = { clients: Array<KnownClient>, };

/**
 * How a client stands.
 */
export type ClientState = { "state": "not_connected" } | { "state": "added" } | { "state": "connected", since_ms: number, } | { "state": "needs_you", what: string, message: string, } | { "state": "paste" };

/**
 * How much one client used a server.
 */
export type ClientUse = { client: string, calls: number, last_ms: number, };

/**
 * A client that has spoken to the endpoint.
 */
export type ClientView = { id: string, requests: number, last_call: string | null, last_seen_ms: number, };

/**
 * What went wrong, as one of a fixed list. A code never changes its meaning.
 */
export type Code = "spawn_not_found" | "runtime_missing" | "docker_down" | "spawn_denied" | "exited_early" | "handshake_timeout" | "stdout_noise" | "oom_killed" | "handshake_refused" | "protocol_version" | "crashed" | "list_failed" | "tool_paused" | "needs_credential" | "dns" | "unreachable" | "tls" | "http_401" | "http_403" | "http_404" | "http_5xx" | "keychain_locked" | "keychain_absent" | "vault_locked" | "config_invalid" | "port_taken" | "socket_not_opened" | "no_tools" | "offline" | "needs_sign_in" | "needs_more_rights" | "needs_client_id" | "oauth_refused" | "oauth_denied" | "oauth_discovery" | "oauth_refresh" | "oauth_callback_timeout" | "set_aside" | "ledger_unusable" | "held_back" | "approvals_lost" | "denied" | "settings_held" | "unknown_profile" | "setup_differs" | "not_in_profile" | "unknown_server" | "unknown_secret" | "unknown_client" | "which_client" | "unknown_call" | "unknown" | "unknown_page" | "unknown_origin" | "bad_request" | "bad_query" | "bad_arguments" | "bad_name" | "bad_server" | "bad_client" | "bad_paste" | "bad_rule" | "bad_answer" | "bad_bundle" | "bad_description" | "no_digest" | "not_from_a_registry" | "unknown_listing" | "changed_in_place" | "up_to_date" | "package_swapped" | "way_gone" | "needs_consent" | "deleted" | "unknown_way" | "not_toml" | "not_a_server" | "server_exists" | "profile_exists" | "profile_in_use" | "needs" | "empty" | "unreadable" | "unwritable" | "ledger" | "secret_store" | "wrong_passphrase" | "upstream_error" | "call_failed" | "not_repeatable" | "arguments_not_kept" | "cancelled" | "too_many" | "closing" | "not_open" | "panicked" | "switched_off" | "needs_person" | "from_a_server" | "not_for_windows" | "changed_meanwhile" | "unread" | "nothing_removed" | "nothing_to_undo" | "not_asked" | "other_question" | "too_soon" | "no_sign_in" | "not_connected" | "not_installed" | "paste" | "no_way" | "client_file" | "changed" | "version_unknown" | "versions_several" | "pinned_already" | "no_version" | "not_opened" | "passing_path" | "autostart" | "no_update" | "clipboard";

/**
 * How much a caller has to know to call a tool.
 */
export type Complexity = "simple" | "moderate" | "complex";

/**
 * Puts our entry into a client's files.
 */
export type ConnectClient = { client: string, dry_run: boolean, over?: Over | null, environment?: { [key in string]: string }, };

/**
 * Something that only a person can say yes to, besides the installation itself.
 */
export type Consent = { id: string, says: string, why: Caution | null, };

/**
 * A program that runs containers.
 */
export type ContainerEngine = "auto" | "podman" | "docker";

/**
 * A container to run a server in. Its command is looked up in the image.
 */
export type ContainerSandbox = { image: string, engine: ContainerEngine, };

/**
 * What kind of thing a definition defines.
 */
export type DefinitionKind = "tool" | "prompt" | "resource" | "template" | "introduction" | "instructions" | "beside" | "launch" | "package" | "secret";

/**
 * Deletes the history for good, and what was learned from searches. Sums stay, unless `sums` says that they go too.
 */
export type DeleteHistory = { sums?: boolean, };

/**
 * A stretch of text.
 */
export type DiffPart = { mark: Mark, risky: boolean, text: string, };

/**
 * Takes our entry out again.
 */
export type DisconnectClient = { client: string, dry_run: boolean, environment?: { [key in string]: string }, };

/**
 * A person knows of what went wrong last with a server: it is not shown any more.
 */
export type DismissFailure = { server: string, };

/**
 * One thing that was looked at.
 */
export type DoctorFinding = { about: Examined, subject: string, verdict: Health, message: string, action: string, } & ({ "code": "config_read", file: string, servers: number, } | { "code": "config_damaged", file: string, why: string, } | { "code": "config_absent", file: string, } | { "code": "config_unreadable", file: string, why: string, } | { "code": "search_by_words" } | { "code": "search_by_words_here", variable: string, } | { "code": "search_with_service", model: string, url: string, } | { "code": "search_with_model", file: string, } | { "code": "search_without_model" } | { "code": "hub_absent" } | { "code": "hub_unreachable", why: string, } | { "code": "hub_runs", pid: number, url: string | null, } | { "code": "noticed", notice: Code, why: string, } | { "code": "port_closed" } | { "code": "port_usual", port: number, url: string, } | { "code": "port_other", usual: number, url: string, } | { "code": "runtime", program: Whereabouts, install: MissingRuntime | null, } | { "code": "client_waits", file: string, next: string | null, } | { "code": "client_connected", file: string, doubled: Array<string>, } | { "code": "client_troubled", client: string, trouble: string, why: string, } | { "code": "profile_damaged", why: string, } | { "code": "profile_unknown", servers: Array<string>, } | { "code": "secrets_kept", store: StoreKind, count: number, } | { "code": "secrets_silent", seconds: number, } | { "code": "secrets_unusable", trouble: Code | null, why: string, } | { "code": "server_seen", doing: string, lacks: Array<string>, variables: Array<string>, program: Whereabouts, also: ServerAside | null, });

/**
 * The answer to a request that is only done: nothing.
 */
export type Done = Record<symbol, never>;

/**
 * A server that is started twice.
 */
export type Duplicate = { there: string, here: string, };

/**
 * What a server was doing when it failed.
 */
export type During = "start" | "run" | "lists";

/**
 * What a tool does to what it is about.
 */
export type Effect = "reads" | "writes" | "deletes" | "unstated";

/**
 * The app that a person registered with the provider. The secret goes into the keychain.
 */
export type EnterClient = { server: string, client_id: string, client_secret?: string | null, };

/**
 * A server's entry in the configuration, unknown fields included.
 */
export type Entry = Record<string, unknown>;

/**
 * In which family of protocol revisions a server is spoken to.
 */
export type Era = "auto" | "legacy" | "modern";

/**
 * Everything that was looked at.
 */
export type Examination = { findings: Array<DoctorFinding>, };

/**
 * What kinds of things are looked at.
 */
export type Examined = "configuration" | "search" | "hub" | "port" | "runtime" | "secrets" | "client" | "profile" | "folder" | "server";

/**
 * Something to choose.
 */
export type FieldOption = { value: string, title: string, };

/**
 * One file.
 */
export type FileChange = { path: string, what: string, entry: string, diff: string, };

/**
 * The servers in other programs' files.
 */
export type FindServers = { from: From, environment?: { [key in string]: string }, };

/**
 * Something odd in a definition.
 */
export type Finding = { about: Odd, place: string, begin: number, end: number, text: string, };

/**
 * The servers in other programs' files.
 */
export type Findings = { servers: Array<FoundServer>, skipped: Array<Left>, troubles: Array<Left>, };

/**
 * A project folder with a profile of its own.
 */
export type FolderProfile = { folder: string, profile: string, fault: string | null, };

/**
 * Follows a folder: our setup is written there without secrets, and what others write there is shown.
 */
export type FollowSetup = { folder: string | null, };

/**
 * How a call of [`TryTool`] or [`TryScript`] gets on. Answered when there is news, or after some seconds.
 */
export type FollowTry = { run: string, seen: number, };

/**
 * The folder that is followed, and what other computers wrote there.
 */
export type FollowedSetup = { folder: string | null, computer: string, others: Array<SetupReview>, troubles: Array<Left>, };

/**
 * Forgets what was learned from searches, and nothing else.
 */
export type ForgetHabits = Record<symbol, never>;

/**
 * One field of a form.
 */
export type FormField = { name: string, title: string, description: string, required: boolean, } & ({ "type": "text", format: TextFormat | null, min: number | null, max: number | null, initial: string, } | { "type": "number", whole: boolean, min: number | null, max: number | null, initial: number | null, } | { "type": "toggle", initial: boolean, } | { "type": "choice", options: Array<FieldOption>, initial: string | null, } | { "type": "several", options: Array<FieldOption>, min: number | null, max: number | null, initial: Array<string>, });

/**
 * One server in other programs' files.
 */
export type FoundServer = { name: string, runs: string, transport: string, enabled: boolean, places: Array<string>, known: string | null, secrets: Array<string>, needs: Array<NeededAnswer>, remote: string | null, warnings: Array<Caution>, omitted: Array<Remark>, };

/**
 * Where servers are looked for.
 */
export type From = { "everywhere": { project: string | null, } } | { "client": string } | { "client_file": { client: string, path: string, } } | { "text": string } | { "file": string };

/**
 * Everything known of one call.
 */
export type GetCall = { id: number, };

/**
 * A server's entry as it stands in the configuration, to be edited. Plain text that looks like a secret is
 * [`super::control::HIDDEN`] in it.
 */
export type GetEntry = { server: string, };

/**
 * The followed folder, and what differs in what other computers wrote there.
 */
export type GetFollowedSetup = Record<symbol, never>;

/**
 * How much each server was used in the last day.
 */
export type GetLastDay = Record<symbol, never>;

/**
 * Everything about one server of a registry.
 */
export type GetListed = { name: string, version: string | null, };

/**
 * What a server's launcher fetches for it; `None` where it fetches nothing.
 */
export type GetPackage = { server: string, };

/**
 * One server's last 24 hours: calls, how long they took, who made them.
 */
export type GetServerDay = { server: string, };

/**
 * The pictures of servers that were fetched.
 */
export type GetServerIcons = Record<symbol, never>;

/**
 * The whole state of the hub.
 */
export type GetStatus = Record<symbol, never>;

/**
 * Everything about one tool.
 */
export type GetTool = { tool_path: string, };

/**
 * How something is.
 */
export type Health = "fine" | "note" | "wrong";

/**
 * Takes servers over, their credentials into the keychain.
 */
export type ImportServers = { from: From, names?: Array<string> | null, answers?: Record<string, unknown>, take_out?: boolean, dry_run?: boolean, environment?: { [key in string]: string }, };

/**
 * What came in.
 */
export type Imported = { added: Array<string>, known: Array<string>, secrets: number, left: Array<Left>, remarks: Array<Remark>, taken_out: Array<string>, changes: Array<FileChange>, };

/**
 * Something to be given.
 */
export type Input = { id: string, description: string, required: boolean, secret: boolean, format: string, default: string | null, placeholder: string | null, choices: Array<string>, repeated: boolean, };

/**
 * What is to be installed, or updated.
 */
export type InstallAsk = { name: string, server: string | null, version: string | null, way: string | null, answers: Record<string, unknown>, };

/**
 * Installs or updates a server as it was planned.
 */
export type InstallListed = { seen: string, name: string, server: string | null, version: string | null, way: string | null, answers: Record<string, unknown>, };

/**
 * What an installation or an update would do.
 */
export type InstallPlan = { called: string, way: string, transport: string, runs: Array<string>, env: { [key in string]: string }, headers: { [key in string]: string }, inputs: Array<Input>, missing: Array<string>, consents: Array<Consent>, runtime: MissingRuntime | null, from: string | null, changes: Array<string>, afterwards: Array<string>, seen: string, name: string, title: string | null, description: string, version: string, publisher: string, registry: string, status: "active" | "deprecated" | "deleted", status_message: string | null, repository: string | null, website: string | null, published: string | null, versions: number, ways: Array<ListedWay>, remarks: Array<Caution>, installed: string | null, measured: Measured | null, proof: NameProof, license?: string, stars?: number, downloads?: number, };

/**
 * What was installed or updated.
 */
export type Installed = { server: string, version: string, secrets: number, held: boolean, };

/**
 * An installed server and what its registry says by now.
 */
export type InstalledServer = { server: string, name: string, version: string, newer: string | null, status: "active" | "deprecated" | "deleted" | "unknown", status_message: string | null, remarks: Array<Caution>, kept: boolean, };

/**
 * A person lets a server go on that its registry has deleted.
 */
export type KeepDeleted = { server: string, };

/**
 * A person looked at these definitions, and wants them held back.
 */
export type KeepHeld = { server: string, items: Array<Seen>, };

/**
 * Keeps ours where a computer in the followed folder has something else, until it changes again there.
 */
export type KeepSetup = { computer: string, parts: Array<SetupChoice>, };

/**
 * One client.
 */
export type KnownClient = { id: string, name: string, tier: string, confidence: string, installed: boolean, sign: string | null, file: string | null, duplicates: Array<Duplicate>, surface: Surface, effective: Surface, reason: string, hidden: Array<string>, profile: string | null, after_connect: string | null, } & ({ "state": "not_connected" } | { "state": "added" } | { "state": "connected", since_ms: number, } | { "state": "needs_you", what: string, message: string, } | { "state": "paste" });

/**
 * How much each server was used in the last day, as far as the history is kept.
 */
export type LastDay = { calls: { [key in string]: Array<number> }, };

/**
 * What went wrong with a server last. Kept over a restart of the hub.
 */
export type LastFailure = { code: Code, message: string, at_ms: number, during: During, };

/**
 * What the window shows of the ledger without asking for it.
 */
export type LedgerView = { newest: number, calls_hour: number, failures_hour: number, net_today: number, records: boolean, learns: boolean, days: number, };

/**
 * Something that was left out.
 */
export type Left = { place: string, reason: string, };

/**
 * Every server that was ever signed in to.
 */
export type ListAccounts = Record<symbol, never>;

/**
 * What there is to look at before clients may use it.
 */
export type ListApprovals = { server: string | null, };

/**
 * Calls that wait for a person's word.
 */
export type ListAsks = { wait: boolean, };

/**
 * Every client and how it stands. Variables of the asking process may go with this request and the next ones, for
 * they say where files are.
 */
export type ListClients = { environment?: { [key in string]: string }, };

/**
 * Installed servers of which a registry says something.
 */
export type ListInstalled = { ask: AskRegistries, };

/**
 * The resources, templates and prompts that a server offers.
 */
export type ListOffered = { server: string, };

/**
 * The secrets that a server names and no other one does.
 */
export type ListOwnSecrets = { server: string, };

/**
 * The names of the secrets that are stored.
 */
export type ListSecrets = Record<symbol, never>;

/**
 * Ranked tools; all of them for an empty query.
 */
export type ListTools = { query: string, server: string | null, limit: number, };

/**
 * One server that can be added.
 */
export type Listed = { id: string, title: string, publisher: string, about: { [key in string]: string }, topics: Array<string>, target: Target, needs: Array<Need>, runtime: string | null, home: string | null, license: string | null, measured: Measured | null, tools: Array<ListedTool>, };

/**
 * What a package needs to run.
 */
export type ListedLanguage = "javascript" | "python" | "dotnet" | "container" | "bundle";

/**
 * Where a server runs.
 */
export type ListedPlace = "hosted" | "computer";

/**
 * A server that can be added.
 */
export type ListedServer = { name: string, title: string | null, description: string, version: string, publisher: string, registry: string, status: "active" | "deprecated" | "deleted", status_message: string | null, repository: string | null, website: string | null, published: string | null, versions: number, ways: Array<ListedWay>, remarks: Array<Caution>, installed: string | null, measured: Measured | null, proof: NameProof, license?: string, stars?: number, downloads?: number, };

/**
 * The answer to [`super::request::SearchListed`].
 */
export type ListedServers = { servers: Array<ListedServer>, total: number, known: number, refused: number, registries: Array<RegistryState>, };

/**
 * A tool as its server describes it.
 */
export type ListedTool = { name: string, about: string, kind: Claim, };

/**
 * One way to run a server.
 */
export type ListedWay = { id: string, runs: string, needs: Array<string>, refused: string | null, why: Array<Caution>, };

/**
 * What was found.
 */
export type Listing = { made: string, tokenizer: string, entries: Array<Listed>, };

/**
 * What a search is narrowed to, and how its answer is sorted.
 */
export type ListingFilter = { place: ListedPlace | null, language: ListedLanguage | null, without_key: boolean, from_registries: boolean, sort: ListingSort, };

/**
 * How servers are sorted.
 */
export type ListingSort = "best" | "newest" | "name";

/**
 * A person looked at what this server has on offer; what is held back stays so.
 */
export type LookedAt = { server: string, };

/**
 * Where a stretch of text is.
 */
export type Mark = "same" | "removed" | "added";

/**
 * What a server's definitions were found to be.
 */
export type Measured = { tools: number, tokens: number, version: string, on: string, };

/**
 * One minute of the live chart.
 */
export type Minute = { calls: number, failures: number, };

/**
 * A program that has to be installed before a server can run, and how that is done here.
 */
export type MissingRuntime = { program: string, part_of: string, command: string | null, page: string, };

/**
 * Why a name was not taken as it is.
 */
export type NameFault = "path" | "control" | "blank" | "unseen" | "nothing" | { "long": number } | { "look_alikes": string } | { "taken": string };

/**
 * Who checked that a publisher is who a name says.
 */
export type NameProof = "account" | "domain" | "unknown" | "bundled";

/**
 * What is known of a tool before it is called.
 */
export type Nature = { effect: Effect, stated: boolean, safety: Safety, commands: boolean, idempotent: boolean, open_world: boolean, needs_auth: boolean, deprecated: boolean, };

/**
 * Something a person has to give a server.
 */
export type Need = { name: string, kind: NeedKind, label: { [key in string]: string }, optional: boolean, get: string | null, };

/**
 * What has to be given.
 */
export type NeedKind = "secret" | "text" | "path";

/**
 * Something that has to be said before a server can run.
 */
export type NeededAnswer = { id: string, description: string, secret: boolean, format: string, choices: Array<string>, default: string | null, };

/**
 * Why nothing of a server is started before a person has approved it.
 */
export type NotStarted = "new_entry" | "changed_entry" | "lost" | "package" | "secret";

/**
 * Something a person should know, with what to do about it.
 */
export type Notice = { code: Code, message: string, action: string, };

/**
 * What can be odd about a text that models read.
 */
export type Odd = "hidden_text" | "control_characters" | "look_alike" | "instruction" | "other_tools" | "asks_for_secrets" | "encoded" | "active_content" | "layout" | "resembles";

/**
 * The resources, templates and prompts of one server.
 */
export type Offered = { resources: Array<OfferedItem>, templates: Array<OfferedItem>, prompts: Array<OfferedItem>, more: number, };

/**
 * One resource, template or prompt.
 */
export type OfferedItem = { id: string, title: string, description: string, mime_type: string | null, arguments: Array<PromptArgument>, };

/**
 * What is to be read.
 */
export type OfferedThing = { "resource": string } | { "prompt": { name: string, arguments: { [key in string]: string }, } };

/**
 * What a client speaks to us over.
 */
export type Over = "http" | "bridge";

/**
 * The names of secrets that only one server names.
 */
export type OwnSecrets = { names: Array<string>, };

/**
 * What a server's launcher fetches for it.
 */
export type PackageView = { package: string, version: string | null, digest: string | null, fetched: Array<string>, kept: boolean, example: string, };

/**
 * What a person pasted instead of the browser's coming back.
 */
export type PasteSignIn = { server: string, text: string, };

/**
 * Finishes running calls, puts servers to sleep and refuses new calls, until the time named or [`Resume`].
 */
export type Pause = { until_ms: number | null, };

/**
 * A pause that a person asked for.
 */
export type Paused = { until_ms: number | null, };

/**
 * Whether a tool may be called.
 */
export type Permit = "allow" | "ask" | "off";

/**
 * What the start of a server is doing.
 */
export type Phase = "starting" | "downloading";

/**
 * Pictures of servers.
 */
export type PicturesView = { shown: boolean, mark: string, };

/**
 * Has a server run one version of its package.
 */
export type PinPackage = { server: string, version: string | null, };

/**
 * The one version that runs from now on.
 */
export type Pinned = { package: string, version: string, };

/**
 * Where a server runs.
 */
export type Place = "computer" | "hosted";

/**
 * A named set of servers, and of tools within them.
 */
export type Profile = { servers: Array<string>, only: Array<string>, except: Array<string>, };

/**
 * One profile as faces show it.
 */
export type ProfileView = { name: string, profile: Profile, unknown: Array<string>, clients: Array<string>, fault: string | null, };

/**
 * Every profile, and which one counts for whom.
 */
export type ProfilesView = { active: string | null, all: Array<ProfileView>, folders: Array<FolderProfile>, };

/**
 * Something that a prompt is given: a text.
 */
export type PromptArgument = { name: string, description: string, required: boolean, };

/**
 * Adds a server again that was removed since the hub started, as it was.
 */
export type PutBack = { server: string, };

/**
 * A person's answer to a server's question.
 */
export type QuestionAnswer = { "action": "accept", content: Record<string, unknown>, } | { "action": "decline" } | { "action": "cancel" } | { "action": "mute" };

/**
 * The last lines of a server's log.
 */
export type ReadLog = { server: string, lines: number, };

/**
 * Reads a resource or a prompt for a person in the window, as the client [`super::trying::WINDOW`].
 */
export type ReadOffered = { server: string, what: OfferedThing, };

/**
 * What differs between a setup and ours. Changes nothing.
 */
export type ReadSetup = { from: SetupSource, };

/**
 * Somebody is reading a question right now; it is not taken away meanwhile.
 */
export type ReadingAsk = { id: number, };

/**
 * Why a request was refused. Carried as JSON `{"code", "message", "action"}`.
 */
export type Refusal = { code: Code, message: string, action: string, why?: Array<Caution>, };

/**
 * What is known of a registry.
 */
export type RegistryState = { url: string, read_ms: number | null, reading: boolean, trouble: string | null, refused: { [key in string]: string }, };

/**
 * One remark.
 */
export type Remark = { place: string, reason: string, } & ({ "code": "renamed", given: string, name: string, because: Array<NameFault>, } | { "code": "needs_secret", name: string, } | { "code": "needs_variable", name: string, } | { "code": "env_file", file: string, } | { "code": "other_sandbox", fields: Array<string>, } | { "code": "not_taken", fields: Array<string>, } | { "code": "holds_secret", fields: Array<string>, } | { "code": "no_effect", fields: Array<string>, } | { "code": "app_secret" } | { "code": "agent_switches" } | { "code": "off_with_more", tool: string, with: string, } | { "code": "plain_sign_ins", who: string, file: string, });

/**
 * Removes a secret.
 */
export type RemoveSecret = { name: string, };

/**
 * What was called and what was saved in a span of time. Every face shows the same one.
 */
export type Report = { by: By, from: string, tokenizer: string, totals: Totals, savings: Savings, sharing: Sharing, scripts: Scripted, lines: Array<ReportLine>, how: Array<string>, };

/**
 * What a report is asked for.
 */
export type ReportAsk = { by: By, days: number | null, hours: number | null, profile?: string | null, };

/**
 * One line of a report.
 */
export type ReportLine = { name: string, totals: Totals, sessions: number, without: number, with: number, net: number, };

/**
 * Lets a server sleep now, or gives its start up. A call under way is not cut off.
 */
export type Rest = { server: string, };

/**
 * Starts a server now, or again if it is running.
 */
export type Restart = { server: string, };

/**
 * Ends a pause.
 */
export type Resume = Record<symbol, never>;

/**
 * Looks at everything that can be wrong from outside. Starts nothing.
 */
export type RunDoctor = { environment?: { [key in string]: string }, };

/**
 * How careful one has to be with a tool.
 */
export type Safety = "safe" | "moderate" | "dangerous";

/**
 * What a server in a sandbox may reach besides what every program needs. The system's own sandbox exists on Linux only;
 * a container is one wherever podman or Docker is.
 */
export type Sandbox = { read: Array<string>, write: Array<string>, network: boolean, container?: ContainerSandbox | null, };

/**
 * `net = without - with`, over sessions.
 */
export type Savings = { sessions: number, left_out: number, without: number, with: number, spent: Spent, net: number, percent: number | null, break_even_searches: number | null, verdict: string, };

/**
 * A call of a script.
 */
export type ScriptCall = { path: string, took_ms: number | null, failed: boolean, };

/**
 * What scripts kept out of contexts: apart from the savings in definitions, because without a script a model might have
 * called otherwise.
 */
export type Scripted = { runs: number, calls: number, inside: number, spent: number, net: number, losses: number, };

/**
 * Looks for servers in what is known here of registries.
 */
export type SearchListed = { query: string, all: boolean, limit: number, offset: number, filter?: ListingFilter, ask: AskRegistries, };

/**
 * Servers that can be added, best first; all of them for an empty query.
 */
export type SearchListing = { query: string, };

/**
 * A definition, named together with what it was when a person looked at it.
 */
export type Seen = { kind: DefinitionKind, name: string, fingerprint: string, };

/**
 * What there is to look at of one server.
 */
export type ServerApprovals = { server: string, unseen: Unseen | null, new: number, items: Array<ApprovalItem>, };

/**
 * What else is worth knowing of a server that works.
 */
export type ServerAside = "offers_nothing" | { "floats": string };

/**
 * One server's last 24 hours, as far as the history is kept: the newest [`DAY_CALLS`] calls and readings.
 */
export type ServerDay = { calls: number, failures: number, median_ms: number | null, p95_ms: number | null, clients: Array<ClientUse>, };

/**
 * The answer to [`super::request::GetListed`].
 */
export type ServerDetails = { releases: Array<[string, string]>, afterwards: Array<string>, name: string, title: string | null, description: string, version: string, publisher: string, registry: string, status: "active" | "deprecated" | "deleted", status_message: string | null, repository: string | null, website: string | null, published: string | null, versions: number, ways: Array<ListedWay>, remarks: Array<Caution>, installed: string | null, measured: Measured | null, proof: NameProof, license?: string, stars?: number, downloads?: number, };

/**
 * Pictures of servers: small PNGs that Satchel drew, as addresses of data.
 */
export type ServerIcons = { icons: { [key in string]: string }, };

/**
 * The end of a server's log.
 */
export type ServerLog = { path: string, lines: Array<string>, };

/**
 * What a server wants to know of a person in the middle of a call (`2026-07-28/client/elicitation.mdx`).
 */
export type ServerQuestion = { message: string, } & ({ "kind": "form", fields: Array<FormField>, } | { "kind": "secret", fields: Array<string>, } | { "kind": "credential", name: string, } | { "kind": "page", url: string, host: string, });

/**
 * What a server is doing now. Times are milliseconds since the Unix epoch.
 */
export type ServerState = { "state": "off" } | { "state": "asleep" } | { "state": "starting", since_ms: number, phase: Phase, } | { "state": "ready", in_flight: number, sleeps_at_ms: number | null, } | { "state": "stopping" } | { "state": "backing_off", code: Code, message: string, retry_at_ms: number, failures: number, } | { "state": "broken", code: Code, message: string, retry_at_ms: number, failures: number, } | { "state": "needs_credential", names: Array<string>, variables: Array<string>, code: Code, message: string, } | { "state": "needs_sign_in", message: string, } | { "state": "invalid", message: string, };

/**
 * One server as faces show it.
 */
export type ServerView = { name: string, title: string | null, place: Place, enabled: boolean, startup: Startup, pid: number | null, tools: number | null, tokens: number | null, resources: number | null, prompts: number | null, skipped: Array<string>, held: number, not_started: NotStarted | null, unseen: Unseen | null, runs: string, idle_timeout_seconds: number, sandbox: Sandbox | null, starts: number, calls: number, wake_ms: number | null, fresh: boolean, last_failure: LastFailure | null, sign_in: SignInView | null, usage: Usage, } & ({ "state": "off" } | { "state": "asleep" } | { "state": "starting", since_ms: number, phase: Phase, } | { "state": "ready", in_flight: number, sleeps_at_ms: number | null, } | { "state": "stopping" } | { "state": "backing_off", code: Code, message: string, retry_at_ms: number, failures: number, } | { "state": "broken", code: Code, message: string, retry_at_ms: number, failures: number, } | { "state": "needs_credential", names: Array<string>, variables: Array<string>, code: Code, message: string, } | { "state": "needs_sign_in", message: string, } | { "state": "invalid", message: string, });

/**
 * One session in a list.
 */
export type SessionLine = { id: number, client: string, program: string, era: string, started_ms: number, last_ms: number, calls: number, searches: number, without: number, spent: Spent, net: number, counted: boolean, };

/**
 * Hides a server, or a tool as `server:tool`, from one client, or shows it again.
 */
export type SetHidden = { client: string, path: string, hidden: boolean, };

/**
 * Stores a secret.
 */
export type SetSecret = { name: string, value: string, };

/**
 * Chooses what a client sees of us.
 */
export type SetSurface = { client: string, surface: Surface, };

/**
 * Rules and addresses in the configuration file that another hand wrote there.
 */
export type SettingsChange = { fingerprint: string, diff: Array<DiffPart>, };

/**
 * A difference that a person saw.
 */
export type SetupChoice = { id: string, seen: string, };

/**
 * A part that is otherwise in another setup.
 */
export type SetupDifference = { id: string, part: SetupPart, name: string, standing: SetupStanding, diff: Array<DiffPart>, warnings: Array<string>, seen: string, };

/**
 * What a part of a setup is.
 */
export type SetupPart = "server" | "profile" | "setting" | "client";

/**
 * What differs between a setup and ours.
 */
export type SetupReview = { computer: string, written_ms: number, differences: Array<SetupDifference>, same: number, sealed: boolean, };

/**
 * Where a setup is read from.
 */
export type SetupSource = { "file": string } | { "computer": string };

/**
 * How a part of another setup stands to ours.
 */
export type SetupStanding = "new" | "changed" | "removed" | "conflict";

/**
 * What sharing servers saved, in means over the time in which servers ran.
 */
export type Sharing = { measured_hours: number, processes: number, memory_bytes: number, most_processes: number, most_memory_bytes: number, used_processes: number, used_memory_bytes: number, };

/**
 * The page that a person opens to sign in. Answer to the request that begins a sign-in.
 */
export type SignInPage = { url: string, host: string, redirect: string, until_ms: number, not_opened?: Refusal | null, };

/**
 * The states of a sign-in.
 */
export type SignInState = { "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, };

/**
 * How it stands with the sign-in to a server.
 */
export type SignInView = { account: string | null, provider: string | null, scopes: Array<string>, since_ms: number, } & ({ "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, });

/**
 * Signs out.
 */
export type SignOut = { server: string, keep_registration?: boolean, };

/**
 * What became of a sign-in.
 */
export type SignedOut = { was_in: boolean, revoked: boolean | null, };

/**
 * The hub at one moment.
 */
export type Snapshot = { version: number, endpoint: string | null, notices: Array<Notice>, servers: Array<ServerView>, clients: Array<ClientView>, avoided: Avoided, paused: Paused | null, ledger: LedgerView, asks: Array<Ask>, profiles: ProfilesView, pictures: PicturesView, };

/**
 * What the hub cost, in tokens.
 */
export type Spent = { definitions: number, find: number, describe: number, wrapping: number, };

/**
 * When a server is started.
 */
export type Startup = "lazy" | "keep-alive" | "eager" | "manual";

/**
 * Which store of secrets is in use.
 */
export type StoreKind = "keychain" | "file";

/**
 * The secrets that are stored.
 */
export type StoredSecrets = { names: Array<string>, store: StoreKind, locked: boolean, };

/**
 * What a client sees of us.
 */
export type Surface = "auto" | "router" | "direct" | "script";

/**
 * Takes parts of a setup that a person saw, in the place of ours.
 */
export type TakeSetup = { from: SetupSource, parts: Array<SetupChoice>, passphrase?: string | null, };

/**
 * What was taken of a setup.
 */
export type TakenSetup = { taken: Array<string>, secrets: number, left: Array<Left>, };

/**
 * Where a server added by a face is.
 */
export type Target = { "kind": "command", command: string, args: Array<string>, env: { [key in string]: string }, cwd: string | null, } | { "kind": "url", url: string, headers: { [key in string]: string }, };

/**
 * What a text has to be.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/**
 * Where the time of calls went. The four parts are sums over all calls.
 */
export type Took = { median_ms: number, p95_ms: number, wait_ms: number, start_ms: number, upstream_ms: number, ours_ms: number, };

/**
 * Everything about one tool.
 */
export type ToolDetails = { line: ToolLine, definition: string, };

/**
 * One tool as faces list it.
 */
export type ToolLine = { tool_path: string, description: string, signature: string, tokens: number | null, category: string, complexity: Complexity, version: number, first_seen_ms: number | null, changed_ms: number | null, why?: string | null, nature: Nature, permit: Permit, rule: string, };

/**
 * Ranked tools.
 */
export type ToolList = { tools: Array<ToolLine>, total: number, };

/**
 * Calls and what they cost.
 */
export type Totals = { calls: number, failures: number, searches: number, request_bytes: number, result_bytes: number, request_tokens: number, result_tokens: number, uncounted: number, took: Took, };

/**
 * What came of a call.
 */
export type Tried = { result: string, took_ms: number, };

/**
 * What came of a script.
 */
export type TriedScript = { result: string, took_ms: number, calls: Array<ScriptCall>, };

/**
 * How a call gets on.
 */
export type TryProgress = { seen: number, progress: number | null, total: number | null, message: string | null, log: Array<string>, over: boolean, };

/**
 * Has a person in the window run a script, as the client [`super::trying::WINDOW`]. It is followed and cancelled as
 * a call of [`TryTool`].
 */
export type TryScript = { run: string, script: string, input: string, };

/**
 * Has a person in the window try a tool, as the client [`super::trying::WINDOW`]: rules, approvals and records are
 * as for any other.
 */
export type TryTool = { run: string, tool_path: string, arguments: string, page_of?: string | null, };

/**
 * Takes back the last thing that was done to another program's file, or imported.
 */
export type Undo = { environment?: { [key in string]: string }, };

/**
 * What was taken back.
 */
export type Undone = { what: string, remarks: Array<string>, };

/**
 * Opens the encrypted file for as long as the hub runs.
 */
export type UnlockVault = { passphrase: string, };

/**
 * A server that nobody has looked at yet.
 */
export type Unseen = "new" | "imported";

/**
 * What a server costs this computer, its whole process tree taken together.
 */
export type Usage = { processes: number | null, memory_bytes: number | null, cpu_percent: number | null, memory_most_bytes: number | null, cpu_most_percent: number | null, restarts: number, noise: number, };

/**
 * Chooses the encrypted file as the place of secrets, and makes it if there is none.
 */
export type UseVault = { passphrase: string, };

/**
 * Waits for the end of the sign-in that is under way.
 */
export type WaitForSignIn = { server: string, };

/**
 * Where a program is.
 */
export type Whereabouts = { "at": string } | "built_in" | { "not_executable": string } | { "missing": { command: string, instead: Array<string>, looked: Array<string>, } };

/**
 * Why something is held back.
 */
export type Why = "changed" | "added" | "new" | "alarming" | "lost";

/**
 * Writes the whole setup into a file: a new one, or one in the place of an older setup.
 */
export type WriteSetup = { path: string, passphrase?: string | null, };

/**
 * What went into a file.
 */
export type WrittenSetup = { path: string, servers: number, others: number, secrets: number, left: Array<Left>, };

/** What may be asked, by method: its fields and its answer. */
export interface Requests {
  accounts: { fields: ListAccounts; answer: Array<AccountLine> };
  activity: { fields: ActivityAsk; answer: ActivityPage };
  answer_ask: { fields: AnswerAsk; answer: Done };
  answer_question: { fields: AnswerQuestion; answer: Done };
  answer_secret: { fields: AnswerSecret; answer: Done };
  approvals: { fields: ListApprovals; answer: ApprovalList };
  approve: { fields: Approve; answer: Done };
  approve_settings: { fields: ApproveSettings; answer: Done };
  asks: { fields: ListAsks; answer: AskList };
  begin_sign_in: { fields: BeginSignIn; answer: SignInPage };
  bind_profile: { fields: BindClient; answer: Done };
  call_detail: { fields: GetCall; answer: CallDetail };
  cancel_sign_in: { fields: CancelSignIn; answer: Done };
  cancel_try: { fields: CancelTry; answer: Done };
  change: { fields: Change; answer: Done };
  connect_client: { fields: ConnectClient; answer: ClientChange };
  delete_history: { fields: DeleteHistory; answer: Done };
  disconnect_client: { fields: DisconnectClient; answer: ClientChange };
  dismiss_failure: { fields: DismissFailure; answer: Done };
  doctor: { fields: RunDoctor; answer: Examination };
  enter_client: { fields: EnterClient; answer: Done };
  entry: { fields: GetEntry; answer: Entry };
  find_servers: { fields: FindServers; answer: Findings };
  follow_setup: { fields: FollowSetup; answer: FollowedSetup };
  follow_try: { fields: FollowTry; answer: TryProgress };
  followed_setup: { fields: GetFollowedSetup; answer: FollowedSetup };
  forget_habits: { fields: ForgetHabits; answer: Done };
  import_servers: { fields: ImportServers; answer: Imported };
  install_listed: { fields: InstallListed; answer: Installed };
  installed: { fields: ListInstalled; answer: Array<InstalledServer> };
  keep_deleted: { fields: KeepDeleted; answer: Done };
  keep_held: { fields: KeepHeld; answer: Done };
  keep_setup: { fields: KeepSetup; answer: Done };
  last_day: { fields: GetLastDay; answer: LastDay };
  list_clients: { fields: ListClients; answer: ClientList };
  listed_server: { fields: GetListed; answer: ServerDetails };
  listing: { fields: SearchListing; answer: Listing };
  log: { fields: ReadLog; answer: ServerLog };
  looked_at: { fields: LookedAt; answer: Done };
  offered: { fields: ListOffered; answer: Offered };
  own_secrets: { fields: ListOwnSecrets; answer: OwnSecrets };
  package: { fields: GetPackage; answer: PackageView | null };
  paste_sign_in: { fields: PasteSignIn; answer: Done };
  pause: { fields: Pause; answer: Done };
  pin: { fields: PinPackage; answer: Pinned };
  plan_install: { fields: InstallAsk; answer: InstallPlan };
  put_back: { fields: PutBack; answer: Done };
  read_offered: { fields: ReadOffered; answer: Tried };
  read_setup: { fields: ReadSetup; answer: SetupReview };
  reading_ask: { fields: ReadingAsk; answer: Done };
  remove_secret: { fields: RemoveSecret; answer: Done };
  report: { fields: ReportAsk; answer: Report };
  rest: { fields: Rest; answer: Done };
  restart: { fields: Restart; answer: Done };
  resume: { fields: Resume; answer: Done };
  search_listed: { fields: SearchListed; answer: ListedServers };
  secret_names: { fields: ListSecrets; answer: StoredSecrets };
  server_day: { fields: GetServerDay; answer: ServerDay };
  server_icons: { fields: GetServerIcons; answer: ServerIcons };
  set_hidden: { fields: SetHidden; answer: Done };
  set_secret: { fields: SetSecret; answer: Done };
  set_surface: { fields: SetSurface; answer: Done };
  sign_out: { fields: SignOut; answer: SignedOut };
  status: { fields: GetStatus; answer: Snapshot };
  take_setup: { fields: TakeSetup; answer: TakenSetup };
  tool: { fields: GetTool; answer: ToolDetails };
  tools: { fields: ListTools; answer: ToolList };
  try_script: { fields: TryScript; answer: TriedScript };
  try_tool: { fields: TryTool; answer: Tried };
  undo: { fields: Undo; answer: Undone };
  unlock_vault: { fields: UnlockVault; answer: Done };
  use_vault: { fields: UseVault; answer: Done };
  wait_for_sign_in: { fields: WaitForSignIn; answer: SignInView };
  write_setup: { fields: WriteSetup; answer: WrittenSetup };
}

/** A request as it is sent. */
export type Request = { [Method in keyof Requests]: { do: Method } & Requests[Method]["fields"] }[keyof Requests];

/** What a request is answered with. */
export type Answer<Asked extends Request> = Requests[Asked["do"]]["answer"];
