// Written by `SATCHEL_WRITE_TYPES=1 cargo test -p satchel-core --lib typescript` from the Rust types. Not for editing.

/**
 * One sign-in in the list of accounts.
 */
export type AccountLine = { server: string, account: string | null, provider: string | null, scopes: Array<string>, since_ms: number, } & ({ "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, });

/**
 * Selects the calls of a page.
 */
export type ActivityAsk = { before: number | null, limit: number, problems: boolean, asked: boolean, client: string | null, server: string | null, tool: string | null, session: number | null, from_ms: number | null, to_ms: number | null, profile?: string | null, };

/**
 * A page of calls, newest first, with their sessions.
 */
export type ActivityPage = { calls: Array<CallLine>, sessions: Array<SessionLine>, more: boolean, minutes: Array<Minute>, problems: number, asked: number, };

/**
 * Adds a skill. It has no effect before it is given.
 */
export type AddSkill = { from: string, replace: boolean, environment?: { [key in string]: string }, };

/**
 * Answers a permission question.
 */
export type AnswerAsk = { id: number, answer: AskAnswer, };

/**
 * Answers a server's question.
 */
export type AnswerQuestion = { id: number, answer: QuestionAnswer, };

/**
 * Supplies a value that a server needs to start: stores it and continues the waiting call.
 */
export type AnswerSecret = { id: number, value: string, };

/**
 * One definition to review. Hidden characters are escaped in the diff and the findings; the name is as the server
 * sent it.
 */
export type ApprovalItem = { kind: DefinitionKind, name: string, fingerprint: string, held: Why | null, kept: boolean, in_force?: InForce, diff: Array<DiffPart>, folds_from?: number, findings: Array<Finding>, };

/**
 * Everything that waits for review.
 */
export type ApprovalList = { servers: Array<ServerApprovals>, settings: SettingsChange | null, };

/**
 * Approves exactly these definitions, which a person reviewed. If one has changed since, the request is refused
 * and none is approved.
 */
export type Approve = { server: string, items: Array<Seen>, };

/**
 * Accepts the held settings of the configuration file with this fingerprint.
 */
export type ApproveSettings = { fingerprint: string, };

/**
 * A call that waits for a person's decision. Hidden characters are escaped in all fields except those that an answer
 * has to repeat.
 */
export type Ask = { id: number, client: string, server: string, tool: string, effect: Effect, stated: boolean, arguments: Array<AskArgument>, json: string, rule: string, usual?: UsualRule, since_ms: number, until_ms: number, question?: ServerQuestion | null, };

/**
 * A person's decision about a call.
 */
export type AskAnswer = "once" | "session" | "always" | "no" | "mute";

/**
 * One argument, formatted for people.
 */
export type AskArgument = { title: string, value: string, };

/**
 * The waiting questions, interleaved so that every client's first comes before any client's second.
 */
export type AskList = { asks: Array<Ask>, };

/**
 * Whether to query the registries before answering.
 */
export type AskRegistries = "if_due" | "meanwhile" | "now" | "never";

/**
 * What sharing saves at this moment.
 */
export type Avoided = { clients: number, processes: number, memory_bytes: number, formula: string, };

/**
 * Begins a sign-in; the caller opens the page.
 */
export type BeginSignIn = { server: string, again?: boolean, };

/**
 * Binds a client to a profile, or unbinds it.
 */
export type BindClient = { client: string, profile: string | null, };

/**
 * How a report is grouped.
 */
export type By = "client" | "server" | "tool" | "day";

/**
 * How a call was allowed: by a person whom Satchel asked, or by the word of a client that says it asked one.
 */
export type CallConsent = "once" | "session" | "always" | "client_once" | "client_session";

/**
 * Everything known about one call.
 */
export type CallDetail = { line: CallLine, session: SessionLine | null, wait_ms: number, start_ms: number, upstream_ms: number, ours_ms: number, request_bytes: number, result_bytes: number, request_tokens: number | null, result_tokens: number | null, rule: string, usual?: UsualRule, consent?: CallConsent, client_era: string, server_era: string | null, trace: string | null, arguments: string | null, result: string | null, inside: Array<CallLine>, script: number | null, route: Array<CallLine>, };

/**
 * One call in a list.
 */
export type CallLine = { id: number, time_ms: number, session: number, client: string, kind: string, server: string, tool: string, outcome: string, code: string | null, message: string | null, cause?: FailureCause, took_ms: number, waited_ms: number, woke_ms: number, tokens: number | null, argument: string | null, kept_out: number | null, };

/**
 * Cancels the running sign-in.
 */
export type CancelSignIn = { server: string, };

/**
 * Cancels a [`TryTool`] or [`TryScript`].
 */
export type CancelTry = { run: string, };

/**
 * One of them.
 */
export type Caution = { code: CautionCode, parts: Array<string>, text: string, };

/**
 * What there is to say; the sentence is beside each in the source.
 */
export type CautionCode = "sets_loader" | "runs_written" | "reads_secret" | "runs_several" | "tells_engine" | "shares_network" | "shares_processes" | "shares_namespaces" | "gives_every_right" | "passes_variable" | "weakens_isolation" | "hands_socket" | "mounts_disk" | "mounts_place" | "reads_place" | "runs_other_package" | "tells_launcher" | "brings_other_code" | "has_credentials" | "breaks_header" | "sets_header" | "leads_inside" | "lacks_way" | "listens" | "has_two_ways" | "names_no_package" | "builds_with" | "has_unknown_kind" | "names_range" | "names_no_version" | "names_no_image" | "takes_image_from" | "names_no_digest" | "names_bad_digest" | "names_no_bundle" | "fetches_plain" | "fetches_inside" | "takes_package_from" | "speaks_over" | "names_bad_address" | "names_no_address" | "names_other_address" | "names_no_host" | "has_unexplained" | "has_bad_header" | "sets_bad_variable" | "has_unpassable" | "runs_another" | "tells_unknown" | "tells_harmful" | "takes_no_input" | "has_no_input" | "takes_one_value" | "needs_passable" | "needs_choice" | "needs_number" | "needs_boolean" | "needs_path" | "needs_host_part" | "needs_path_part" | "mixed_title" | "hidden_characters" | "other_owner" | "name_in_other_case" | "other_link" | "reads_like_order" | "other_launcher" | "bundle_checked" | "image_pinned" | "address_inside" | "address_plain" | "deprecated" | "deprecated_for" | "changed_in_place" | "held_package" | "known_there" | "renamed_path" | "renamed_control" | "renamed_blank" | "renamed_option" | "renamed_unseen" | "renamed_nothing" | "renamed_long" | "renamed_alike" | "renamed_taken" | "keeps_sign_ins" | "secrets_in_arguments" | "gets_stored" | "goes_to" | "asked_there" | "command_there" | "file_there" | "no_tool_there" | "only_tools_there" | "tools_off_there" | "tools_unasked_there" | "other_program" | "other_source" | "no_exact_version" | "signature_unchecked" | "signed_alone" | "signed_with" | "altered_alone" | "altered_with" | "deleted_there" | "deleted_for" | "not_listed" | "version_not_listed" | "not_listed_any_more" | "up_to_date" | "update_held" | "way_is_gone" | "release_changed" | "not_from_registry" | "still_needs" | "wants_consent" | "shown_before" | "image_unknown";

/**
 * A change to the configuration.
 */
export type Change = { "change": "add", name: string, target: Target, startup: Startup | null, era?: EraSetting | null, replace: boolean, } | { "change": "put", name: string, entry: Record<string, unknown>, replace: boolean, rules?: unknown[], } | { "change": "edit", name: string, entry: Record<string, unknown>, } | { "change": "duplicate", name: string, to: string, } | { "change": "remove", name: string, } | { "change": "set_enabled", name: string, enabled: boolean, } | { "change": "set_permit", tool: string, client: string | null, permit: Permit | null, } | { "change": "set_keep_calls", name: string, keep: boolean, } | { "change": "set_share", name: string, share: Share | null, } | { "change": "set_sandbox", name: string, sandbox: Sandbox | null, } | { "change": "set_learning", learn: boolean, } | { "change": "set_pictures", show: boolean, } | { "change": "pin_tool", pin: PinnedTool, pinned: boolean, } | { "change": "use_profile", name: string | null, } | { "change": "put_profile", name: string, was: string | null, profile: Profile, } | { "change": "remove_profile", name: string, } | { "change": "bind_folder", folder: string, profile: string | null, };

/**
 * The effect that a server declares for a tool. Not verified.
 */
export type Claim = "reads" | "writes" | "deletes" | "unstated";

/**
 * A change to a client's configuration, made or previewed.
 */
export type ClientChange = { client: string, name: string, done: boolean, files: Array<FileChange>, next: string | null, warnings: Array<string>, snippet: string | null, };

/**
 * Every client.
 */
export type ClientList = { clients: Array<KnownClient>, };

/**
 * A client's connection state.
 */
export type ClientState = { "state": "not_connected" } | { "state": "added" } | { "state": "connected", since_ms: number, } | { "state": "needs_you", what: string, message: string, } | { "state": "unreadable", message: string, } | { "state": "paste" };

/**
 * One client's use of a server.
 */
export type ClientUse = { client: string, calls: number, last_ms: number, };

/**
 * A client that has made a request.
 */
export type ClientView = { id: string, requests: number, last_call: string | null, last_seen_ms: number, };

/**
 * Every error and trouble, as a stable code. A code never changes its meaning.
 */
export type Code = "spawn_not_found" | "runtime_missing" | "docker_down" | "spawn_denied" | "sandbox_unusable" | "entry_wrong" | "secret_source" | "exited_early" | "handshake_timeout" | "stdout_noise" | "dependency_broken" | "oom_killed" | "handshake_refused" | "protocol_version" | "crashed" | "list_failed" | "tool_paused" | "needs_credential" | "dns" | "unreachable" | "tls" | "http_401" | "http_403" | "http_404" | "http_5xx" | "keychain_locked" | "keychain_absent" | "vault_locked" | "config_invalid" | "rule_invalid" | "setting_invalid" | "port_taken" | "socket_not_opened" | "no_tools" | "offline" | "needs_sign_in" | "needs_more_rights" | "needs_client_id" | "oauth_refused" | "oauth_denied" | "oauth_discovery" | "oauth_refresh" | "oauth_callback_timeout" | "set_aside" | "ledger_unusable" | "held_back" | "approvals_lost" | "denied" | "settings_held" | "unknown_profile" | "setup_differs" | "not_in_profile" | "unknown_server" | "unknown_secret" | "unknown_client" | "which_client" | "unknown_call" | "unknown" | "unknown_page" | "unknown_origin" | "bad_request" | "bad_query" | "bad_arguments" | "bad_name" | "bad_server" | "bad_client" | "bad_paste" | "bad_rule" | "bad_answer" | "bad_bundle" | "bad_skill" | "unknown_skill" | "skill_exists" | "too_many_pinned" | "bad_description" | "no_digest" | "not_from_a_registry" | "unknown_listing" | "changed_in_place" | "up_to_date" | "package_swapped" | "way_gone" | "needs_consent" | "deleted" | "unknown_way" | "not_a_server" | "server_exists" | "profile_exists" | "profile_in_use" | "needs" | "empty" | "unreadable" | "unwritable" | "ledger" | "secret_store" | "short_passphrase" | "unreferenced" | "wrong_passphrase" | "upstream_error" | "call_failed" | "not_repeatable" | "arguments_not_kept" | "cancelled" | "too_many" | "closing" | "not_open" | "panicked" | "switched_off" | "needs_person" | "from_a_server" | "not_for_windows" | "changed_meanwhile" | "unread" | "nothing_removed" | "nothing_to_undo" | "not_asked" | "other_question" | "too_soon" | "no_sign_in" | "not_connected" | "not_installed" | "paste" | "no_way" | "client_file" | "changed" | "version_unknown" | "versions_several" | "pinned_already" | "no_version" | "not_opened" | "passing_path" | "autostart" | "no_update" | "clipboard";

/**
 * How complex the arguments of a tool are.
 */
export type Complexity = "simple" | "moderate" | "complex";

/**
 * Adds Satchel's entry to a client's files.
 */
export type ConnectClient = { client: string, dry_run: boolean, over?: Over | null, keep_mode?: boolean, environment?: { [key in string]: string }, };

/**
 * Something that needs a person's explicit consent beyond the installation.
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
 * The kind of a definition.
 */
export type DefinitionKind = "tool" | "prompt" | "resource" | "template" | "skill" | "introduction" | "instructions" | "beside" | "launch" | "package" | "secret";

/**
 * Deletes the history and what was learned from searches. Totals remain unless `sums` is set.
 */
export type DeleteHistory = { sums?: boolean, };

/**
 * A run of text in a diff.
 */
export type DiffPart = { mark: Mark, risky: boolean, text: string, };

/**
 * Removes Satchel's entry from a client's files.
 */
export type DisconnectClient = { client: string, dry_run: boolean, environment?: { [key in string]: string }, };

/**
 * Dismisses a server's last failure.
 */
export type DismissFailure = { server: string, };

/**
 * A finding about one thing.
 */
export type DoctorFinding = { about: Examined, subject: string, verdict: Health, message: string, action: string, } & ({ "code": "config_read", file: string, servers: number, } | { "code": "config_damaged", file: string, why: string, } | { "code": "rules_invalid", file: string, why: Array<string>, } | { "code": "settings_invalid", file: string, why: Array<string>, } | { "code": "config_absent", file: string, } | { "code": "config_unreadable", file: string, why: string, } | { "code": "search_by_words" } | { "code": "search_by_words_here", variable: string, } | { "code": "search_with_service", model: string, url: string, } | { "code": "search_with_model", file: string, } | { "code": "search_without_model" } | { "code": "search_without_multilingual", file: string, } | { "code": "hub_absent" } | { "code": "hub_unreachable", why: string, } | { "code": "hub_runs", pid: number, url: string | null, } | { "code": "noticed", notice: Code, why: string, } | { "code": "port_closed" } | { "code": "port_usual", port: number, url: string, } | { "code": "port_other", usual: number, url: string, } | { "code": "search_path", dirs: Array<string>, } | { "code": "runtime", program: Whereabouts, install: MissingRuntime | null, } | { "code": "client_waits", file: string, next: string | null, } | { "code": "client_connected", file: string, doubled: Array<string>, } | { "code": "client_troubled", client: string, trouble: string, why: string, } | { "code": "token_private", file: string, before: string, } | { "code": "token_readable", file: string, mode: string, client: string, chosen: boolean, } | { "code": "profile_damaged", why: string, } | { "code": "profile_unknown", servers: Array<string>, } | { "code": "secrets_kept", store: StoreKind, count: number, } | { "code": "secrets_silent", seconds: number, } | { "code": "secrets_unusable", trouble: Code | null, why: string, } | { "code": "server_seen", doing: string, lacks: Array<string>, variables: Array<string>, program: Whereabouts, also: ServerAside | null, left_out?: Array<string>, });

/**
 * An empty answer.
 */
export type Done = Record<symbol, never>;

/**
 * A server that the client also starts itself.
 */
export type Duplicate = { there: string, here: string, };

/**
 * What a server was doing when it failed.
 */
export type During = "start" | "run" | "lists";

/**
 * A tool's effect on its data.
 */
export type Effect = "reads" | "writes" | "deletes" | "unstated";

/**
 * Sets the client ID of a user-registered app. The secret is stored in the keychain.
 */
export type EnterClient = { server: string, client_id: string, client_secret?: string | null, };

/**
 * Stores the value of an environment variable that a server lacks, as a secret, and lets the entry name that instead.
 */
export type EnterVariable = { server: string, variable: string, value: string, };

/**
 * A server's entry in the configuration, unknown fields included.
 */
export type Entry = Record<string, unknown>;

/**
 * Which family of protocol revisions to use.
 */
export type EraSetting = "auto" | "legacy" | "modern";

/**
 * The result of `satchel doctor`.
 */
export type Examination = { findings: Array<DoctorFinding>, };

/**
 * The kinds of things that are examined.
 */
export type Examined = "configuration" | "search" | "hub" | "port" | "search_path" | "runtime" | "secrets" | "client" | "profile" | "folder" | "server";

/**
 * Why a server failed. What a server, a launcher or the system wrote is verbatim.
 */
export type FailureCause = { "kind": "program_absent", program: string, searched: boolean, } | { "kind": "directory_absent", directory: string, } | { "kind": "not_executable", program: string, } | { "kind": "not_permitted", program: string, } | { "kind": "line_break", program: string, } | { "kind": "not_started", program: string, error: string, } | { "kind": "unset", names: Array<string>, } | { "kind": "whole_line", line: string, program: string, } | { "kind": "other_placeholders", names: Array<string>, } | { "kind": "exited", end: ProcessEnd, wrote: string | null, served: boolean, } | { "kind": "output_closed" } | { "kind": "input_closed" } | { "kind": "silent", seconds: number, wrote: string | null, } | { "kind": "no_answer", method: string | null, seconds: number, wrote: string | null, } | { "kind": "refused", said: string, } | { "kind": "unusable", method: string, } | { "kind": "revision", said: string, } | { "kind": "http", status: number, said: string | null, retry_seconds: number | null, } | { "kind": "redirected", status: number, target: string, } | { "kind": "unreached", trouble: Reach, error: string, } | { "kind": "session_expired" } | { "kind": "sandbox", fault: SandboxFault, };

/**
 * An option of a choice.
 */
export type FieldOption = { value: string, title: string, };

/**
 * A change to one file.
 */
export type FileChange = { path: string, what: string, entry: string, diff: string, };

/**
 * Finds servers in other programs' files.
 */
export type FindServers = { from: From, answers?: Record<string, unknown>, environment?: { [key in string]: string }, };

/**
 * A suspicious passage in a definition.
 */
export type Finding = { about: Odd, place: string, begin: number, end: number, text: string, };

/**
 * Servers found in other programs' files.
 */
export type Findings = { servers: Array<FoundServer>, skipped: Array<Left>, troubles: Array<Left>, seen?: string, };

/**
 * A project folder bound to a profile.
 */
export type FolderProfile = { folder: string, profile: string, fault: string | null, };

/**
 * Follows a folder: writes this setup there without secrets, and shows the setups of other computers.
 */
export type FollowSetup = { folder: string | null, };

/**
 * The progress of a [`TryTool`] or [`TryScript`]. Long poll: answers when there is something new, or after some seconds.
 */
export type FollowTry = { run: string, seen: number, };

/**
 * The followed folder and the setups in it.
 */
export type FollowedSetup = { folder: string | null, computer: string, others: Array<SetupReview>, troubles: Array<Left>, };

/**
 * Deletes what was learned from searches, and nothing else.
 */
export type ForgetHabits = Record<symbol, never>;

/**
 * One field of a form.
 */
export type FormField = { name: string, title: string, description: string, required: boolean, } & ({ "type": "text", format: TextFormat | null, min: number | null, max: number | null, initial: string, } | { "type": "number", whole: boolean, min: number | null, max: number | null, initial: number | null, } | { "type": "toggle", initial: boolean, } | { "type": "choice", options: Array<FieldOption>, initial: string | null, } | { "type": "several", options: Array<FieldOption>, min: number | null, max: number | null, initial: Array<string>, });

/**
 * One server found in other programs' files.
 */
export type FoundServer = { name: string, runs: string, words: Array<string>, sets: Array<string>, transport: string, enabled: boolean, switched_off?: boolean, places: Array<string>, known: string | null, secrets: Array<string>, needs: Array<NeededAnswer>, remote: string | null, warnings: Array<Caution>, omitted: Array<Remark>, };

/**
 * Where to look for servers to import.
 */
export type From = { "everywhere": { project: string | null, } } | { "client": string } | { "client_file": { client: string, path: string, } } | { "text": string } | { "file": string };

/**
 * All details of one call.
 */
export type GetCall = { id: number, };

/**
 * A server's configuration entry, for editing. Plain text that looks like a secret is replaced by
 * [`super::control::HIDDEN`].
 */
export type GetEntry = { server: string, };

/**
 * The followed folder, and how the setups in it differ.
 */
export type GetFollowedSetup = Record<symbol, never>;

/**
 * The use of every server in the last day.
 */
export type GetLastDay = Record<symbol, never>;

/**
 * Details of one server in a registry.
 */
export type GetListed = { name: string, version: string | null, };

/**
 * The package that a server's launcher fetches; `None` if there is none.
 */
export type GetPackage = { server: string, };

/**
 * One server's last 24 hours: calls, durations, clients.
 */
export type GetServerDay = { server: string, };

/**
 * The fetched icons of servers.
 */
export type GetServerIcons = Record<symbol, never>;

/**
 * Everything about one of the person's skills.
 */
export type GetSkill = { name: string, environment?: { [key in string]: string }, };

/**
 * The complete state of the hub.
 */
export type GetStatus = Record<symbol, never>;

/**
 * All details of one tool.
 */
export type GetTool = { tool_path: string, };

/**
 * Copies a skill into agents' folders.
 */
export type GiveSkill = { name: string, agents: Array<string>, fingerprint: string, environment?: { [key in string]: string }, };

/**
 * The health of something.
 */
export type Health = "fine" | "note" | "wrong";

/**
 * Imports servers and moves their credentials to the keychain. What a stranger wrote waits for approval unless a person
 * was asked.
 */
export type ImportServers = { from: From, names?: Array<string> | null, answers?: Record<string, unknown>, seen?: string | null, take_out?: boolean, dry_run?: boolean, named?: { [key in string]: string }, replace?: Array<string>, off?: boolean, environment?: { [key in string]: string }, };

/**
 * The result of an import.
 */
export type Imported = { added: Array<string>, waiting?: Array<string>, known: Array<string>, secrets: number, left: Array<Left>, remarks: Array<Remark>, taken_out: Array<string>, changes: Array<FileChange>, };

/**
 * How the earlier definition stays in force while a changed one waits.
 */
export type InForce = "before" | "varies";

/**
 * An input of an installation.
 */
export type Input = { id: string, description: string, required: boolean, secret: boolean, format: string, default: string | null, placeholder: string | null, choices: Array<string>, repeated: boolean, };

/**
 * What to install or update.
 */
export type InstallAsk = { name: string, server: string | null, version: string | null, way: string | null, answers: Record<string, unknown>, };

/**
 * Installs or updates a server as planned.
 */
export type InstallListed = { seen: string, name: string, server: string | null, version: string | null, way: string | null, answers: Record<string, unknown>, };

/**
 * What an installation or update would do.
 */
export type InstallPlan = { called: string, way: string, transport: string, runs: Array<string>, env: { [key in string]: string }, headers: { [key in string]: string }, inputs: Array<Input>, missing: Array<string>, consents: Array<Consent>, runtime: MissingRuntime | null, from: string | null, changes: Array<string>, afterwards: Array<string>, seen: string, name: string, title: string | null, description: string, version: string, publisher: string, registry: string, status: "active" | "deprecated" | "deleted", status_message: string | null, repository: string | null, website: string | null, published: string | null, versions: number, ways: Array<ListedWay>, remarks: Array<Caution>, installed: string | null, measured: Measured | null, proof: NameProof, license?: string, stars?: number, downloads?: number, };

/**
 * The result of an installation or update.
 */
export type Installed = { server: string, version: string, secrets: number, held: boolean, };

/**
 * An installed server and its state in its registry.
 */
export type InstalledServer = { server: string, name: string, version: string, newer: string | null, status: "active" | "deprecated" | "deleted" | "unknown", status_message: string | null, remarks: Array<Caution>, kept: boolean, };

/**
 * One instance of a server that not all callers share.
 */
export type InstanceView = { number: number, client: string | null, folder: string | null, session: boolean, pid: number | null, memory_bytes: number | null, } & ({ "state": "off" } | { "state": "asleep" } | { "state": "starting", since_ms: number, phase: Phase, } | { "state": "ready", in_flight: number, sleeps_at_ms: number | null, } | { "state": "stopping" } | { "state": "backing_off", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "broken", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "needs_credential", names: Array<string>, variables: Array<string>, code: Code, message: string, cause?: FailureCause, } | { "state": "needs_sign_in", message: string, } | { "state": "invalid", message: string, });

/**
 * A person keeps a server running that its registry has deleted.
 */
export type KeepDeleted = { server: string, };

/**
 * Keeps these reviewed definitions held back.
 */
export type KeepHeld = { server: string, items: Array<Seen>, };

/**
 * Keeps the local version of these parts until the other computer changes them again.
 */
export type KeepSetup = { computer: string, parts: Array<SetupChoice>, };

/**
 * One client.
 */
export type KnownClient = { id: string, name: string, tier: string, confidence: string, installed: boolean, sign: string | null, file: string | null, duplicates: Array<Duplicate>, surface: Surface, effective: Surface, reason: string, hidden: Array<string>, profile: string | null, after_connect: string | null, } & ({ "state": "not_connected" } | { "state": "added" } | { "state": "connected", since_ms: number, } | { "state": "needs_you", what: string, message: string, } | { "state": "unreadable", message: string, } | { "state": "paste" });

/**
 * The use of each server in the last day, as far as the history reaches.
 */
export type LastDay = { calls: { [key in string]: Array<number> }, };

/**
 * A server's last failure. Kept across restarts of the hub.
 */
export type LastFailure = { code: Code, message: string, cause?: FailureCause, at_ms: number, during: During, };

/**
 * The part of the ledger that every snapshot includes.
 */
export type LedgerView = { newest: number, counted: number, calls_hour: number, failures_hour: number, net_today: number, records: boolean, learns: boolean, days: number, };

/**
 * Something that was left out, and why.
 */
export type Left = { place: string, reason: string, refusal?: Refusal, cause?: LeftCause, };

/**
 * Why something was left out. [`fmt::Display`] is the sentence for the terminal, without capital and full stop.
 */
export type LeftCause = { "kind": "faulty" } | { "kind": "encrypted" } | { "kind": "newer" } | { "kind": "path_taken" } | { "kind": "not_an_object" } | { "kind": "no_target" } | { "kind": "two_targets" } | { "kind": "no_type" } | { "kind": "not_http" } | { "kind": "transport", name: string, } | { "kind": "scheme", scheme: string, } | { "kind": "internal", part: string, } | { "kind": "switch_only" } | { "kind": "settings_only", entry: string, };

/**
 * All sign-ins, current and past.
 */
export type ListAccounts = Record<symbol, never>;

/**
 * Everything that waits for review.
 */
export type ListApprovals = { server: string | null, };

/**
 * Calls that wait for a person's decision.
 */
export type ListAsks = { wait: boolean, };

/**
 * All clients and their state. This request and the following ones may pass environment variables of the caller,
 * because these determine where files are.
 */
export type ListClients = { environment?: { [key in string]: string }, };

/**
 * Installed servers and their state in their registries.
 */
export type ListInstalled = { ask: AskRegistries, };

/**
 * The resources, templates and prompts that a server offers.
 */
export type ListOffered = { server: string, };

/**
 * The secrets that only this server uses.
 */
export type ListOwnSecrets = { server: string, };

/**
 * The person's skills, and the agents that they can be given to.
 */
export type ListOwnSkills = { environment?: { [key in string]: string }, };

/**
 * The names of stored secrets.
 */
export type ListSecrets = Record<symbol, never>;

/**
 * Searches tools; an empty query lists all.
 */
export type ListTools = { query: string, server: string | null, limit: number, };

/**
 * One server that can be added.
 */
export type Listed = { id: string, title: string, publisher: string, about: { [key in string]: string }, topics: Array<string>, target: Target, needs: Array<Need>, runtime: string | null, home: string | null, license: string | null, measured: Measured | null, tools: Array<ListedTool>, };

/**
 * The runtime of a package.
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
 * Search results in the bundled list.
 */
export type Listing = { made: string, tokenizer: string, entries: Array<Listed>, };

/**
 * Filter and sort order of a search.
 */
export type ListingFilter = { place: ListedPlace | null, language: ListedLanguage | null, without_key: boolean, from_registries: boolean, sort: ListingSort, };

/**
 * The sort order of a search.
 */
export type ListingSort = "best" | "newest" | "name";

/**
 * Marks a server's available definitions as reviewed; what is held back stays held back.
 */
export type LookedAt = { server: string, };

/**
 * Which versions contain a run of text.
 */
export type Mark = "same" | "removed" | "added";

/**
 * Measurements of a server's definitions.
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
 * Why a name was changed.
 */
export type NameFault = "path" | "control" | "blank" | "option" | "unseen" | "nothing" | { "long": number } | { "look_alikes": string } | { "taken": string };

/**
 * Who checked that a publisher is who a name says.
 */
export type NameProof = "account" | "domain" | "unknown" | "bundled";

/**
 * What is known about a tool before a call.
 */
export type Nature = { effect: Effect, stated: boolean, safety: Safety, commands: boolean, idempotent: boolean, open_world: boolean, needs_auth: boolean, deprecated: boolean, };

/**
 * An input that a person has to give.
 */
export type Need = { name: string, kind: NeedKind, label: { [key in string]: string }, optional: boolean, get: string | null, };

/**
 * The kind of an input.
 */
export type NeedKind = "secret" | "text" | "folder";

/**
 * An input that a server needs before it can run.
 */
export type NeededAnswer = { id: string, description: string, secret: boolean, format: string, choices: Array<string>, default: string | null, };

/**
 * Why a server is not started until a person approves it.
 */
export type NotStarted = "new_entry" | "changed_entry" | "lost" | "package" | "secret";

/**
 * Something the user should know, and what to do about it.
 */
export type Notice = { code: Code, message: string, action: string, };

/**
 * Categories of suspicious text.
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
 * Selects what to read.
 */
export type OfferedThing = { "resource": string } | { "prompt": { name: string, arguments: { [key in string]: string }, } };

/**
 * How a client connects to Satchel.
 */
export type Over = "http" | "bridge";

/**
 * The names of secrets that only one server uses.
 */
export type OwnSecrets = { names: Array<string>, };

/**
 * A skill that Satchel keeps.
 */
export type OwnSkill = { name: string, description: string, from: string, added_ms: number, files: number, bytes: number, fingerprint: string, approved: boolean, standings: Array<SkillStanding>, };

/**
 * All details of a skill, for a person to review.
 */
export type OwnSkillDetails = { skill: OwnSkill, files: Array<OwnSkillFile>, remarks: Array<SkillRemark>, left_out: Array<string>, };

/**
 * A file of a skill.
 */
export type OwnSkillFile = { path: string, size: number, sha256: string, program: boolean, text: string | null, cut: boolean, findings: Array<Finding>, };

/**
 * The skills that Satchel keeps, and the agents that they can be given to.
 */
export type OwnSkills = { skills: Array<OwnSkill>, agents: Array<SkillAgent>, };

/**
 * The package that a server's launcher fetches.
 */
export type PackageView = { package: string, version: string | null, digest: string | null, fetched: Array<string>, kept: boolean, example: string, };

/**
 * Completes a sign-in with the redirect address that a person pasted.
 */
export type PasteSignIn = { server: string, text: string, };

/**
 * Pauses the hub until the given time or [`Resume`]: finishes calls in flight, puts servers to sleep and refuses
 * new calls.
 */
export type Pause = { until_ms: number | null, };

/**
 * A pause requested by a person.
 */
export type Paused = { until_ms: number | null, };

/**
 * Whether a tool may be called.
 */
export type Permit = "allow" | "ask" | "off";

/**
 * The phase of a server's start.
 */
export type Phase = "starting" | "downloading";

/**
 * Whether and which icons of servers are displayed.
 */
export type PicturesView = { shown: boolean, mark: string, };

/**
 * Pins a server to one version of its package.
 */
export type PinPackage = { server: string, version: string | null, };

/**
 * The result of pinning a package.
 */
export type Pinned = { package: string, version: string, };

/**
 * A pinned tool, and whose lists have it.
 */
export type PinnedTool = { tool: string, client?: string | null, profile?: string | null, };

/**
 * A pinned tool as faces show it.
 */
export type PinnedView = { pin: PinnedTool, path: string | null, };

/**
 * Where a server runs.
 */
export type Place = "computer" | "hosted";

/**
 * How a process ended.
 */
export type ProcessEnd = { "code": number } | { "signal": number } | "unknown";

/**
 * A named set of servers and their tools.
 */
export type Profile = { servers: Array<string>, only: Array<string>, except: Array<string>, };

/**
 * A profile and its use.
 */
export type ProfileView = { name: string, profile: Profile, unknown: Array<string>, clients: Array<string>, fault: string | null, };

/**
 * All profiles, and who uses them.
 */
export type ProfilesView = { active: string | null, all: Array<ProfileView>, folders: Array<FolderProfile>, };

/**
 * An argument of a prompt; always text.
 */
export type PromptArgument = { name: string, description: string, required: boolean, };

/**
 * Restores a server that was removed since the hub started.
 */
export type PutBack = { server: string, };

/**
 * A person's answer to a server's question.
 */
export type QuestionAnswer = { "action": "accept", content: Record<string, unknown>, } | { "action": "decline" } | { "action": "cancel" } | { "action": "mute" };

/**
 * Why an address cannot be reached.
 */
export type Reach = "name" | "network" | "security" | "closed" | "other";

/**
 * The end of a server's log.
 */
export type ReadLog = { server: string, lines: number, };

/**
 * Reads a resource or a prompt for a person in the window, as the client [`super::trying::WINDOW`].
 */
export type ReadOffered = { server: string, what: OfferedThing, };

/**
 * Compares another setup with this one. Changes nothing.
 */
export type ReadSetup = { from: SetupSource, };

/**
 * Extends the time limit of a question that a person is reading.
 */
export type ReadingAsk = { id: number, };

/**
 * Why a request was refused. Serialized as `{"code", "message", "action"}`.
 */
export type Refusal = { code: Code, message: string, action: string, why?: Array<Caution>, };

/**
 * The state of a registry.
 */
export type RegistryState = { url: string, read_ms: number | null, reading: boolean, trouble: string | null, refused: { [key in string]: string }, };

/**
 * A remark on a server's entry.
 */
export type Remark = { place: string, reason: string, } & ({ "code": "renamed", given: string, name: string, because: Array<NameFault>, } | { "code": "needs_secret", name: string, } | { "code": "needs_variable", name: string, } | { "code": "env_file", file: string, } | { "code": "other_sandbox", fields: Array<string>, } | { "code": "not_taken", fields: Array<string>, } | { "code": "holds_secret", fields: Array<string>, } | { "code": "no_effect", fields: Array<string>, } | { "code": "app_secret" } | { "code": "agent_switches" } | { "code": "off_with_more", tool: string, with: string, } | { "code": "of_windows" } | { "code": "whole_line" } | { "code": "address_as_command" } | { "code": "control_characters", fields: Array<string>, } | { "code": "unfilled", fields: Array<string>, } | { "code": "plain_sign_ins", who: string, file: string, });

/**
 * Removes a secret.
 */
export type RemoveSecret = { name: string, };

/**
 * Removes a skill that no agent has.
 */
export type RemoveSkill = { name: string, };

/**
 * Calls, tokens and savings in a period.
 */
export type Report = { by: By, from: string, tokenizer: string, totals: Totals, savings: Savings, sharing: Sharing, scripts: Scripted, lines: Array<ReportLine>, how: Array<string>, };

/**
 * The parameters of a report.
 */
export type ReportAsk = { by: By, days: number | null, hours: number | null, profile?: string | null, };

/**
 * One group of a report.
 */
export type ReportLine = { name: string, totals: Totals, sessions: number, without: number, with: number, net: number, };

/**
 * Puts a server to sleep, or cancels its start. Calls in flight are finished.
 */
export type Rest = { server: string, };

/**
 * Starts a server now, or restarts it if it is running.
 */
export type Restart = { server: string, };

/**
 * Ends a pause.
 */
export type Resume = Record<symbol, never>;

/**
 * Runs every diagnosis that needs no server. Starts nothing.
 */
export type RunDoctor = { environment?: { [key in string]: string }, };

/**
 * How much care a tool needs.
 */
export type Safety = "safe" | "moderate" | "dangerous";

/**
 * What a sandboxed server may access beyond what every program needs. Linux has its own sandbox; a container works
 * wherever podman or Docker is.
 */
export type Sandbox = { read: Array<string>, write: Array<string>, network: boolean, container?: ContainerSandbox | null, };

/**
 * Why a sandbox cannot be set up.
 */
export type SandboxFault = { "relative": string } | { "temporary": string } | "absent" | "built_in" | { "no_engine": ContainerEngine } | { "steers": string } | { "unmountable": string };

/**
 * `net = without - with`, over sessions.
 */
export type Savings = { sessions: number, left_out: number, without: number, with: number, spent: Spent, net: number, percent: number | null, break_even_searches: number | null, verdict: string, };

/**
 * A call of a script.
 */
export type ScriptCall = { path: string, took_ms: number | null, failed: boolean, };

/**
 * What scripts kept out of contexts. Reported apart from the savings in definitions, because without a script a model
 * might have made other calls.
 */
export type Scripted = { runs: number, calls: number, inside: number, spent: number, net: number, losses: number, };

/**
 * Searches the stored lists of registries.
 */
export type SearchListed = { query: string, all: boolean, limit: number, offset: number, filter?: ListingFilter, ask: AskRegistries, };

/**
 * Searches the bundled list; an empty query lists all.
 */
export type SearchListing = { query: string, };

/**
 * A definition as a person reviewed it.
 */
export type Seen = { kind: DefinitionKind, name: string, fingerprint: string, };

/**
 * What waits for review on one server.
 */
export type ServerApprovals = { server: string, unseen: Unseen | null, new: number, items: Array<ApprovalItem>, };

/**
 * A remark on a server that works.
 */
export type ServerAside = "offers_nothing" | { "floats": string } | { "secret_arguments": Array<string> } | { "variables_here": Array<string> };

/**
 * One server's last 24 hours, as far as the history reaches: the newest [`DAY_CALLS`] calls and resource reads.
 */
export type ServerDay = { calls: number, failures: number, timed: number, median_ms: number | null, p95_ms: number | null, clients: Array<ClientUse>, };

/**
 * The answer to [`super::request::GetListed`].
 */
export type ServerDetails = { releases: Array<[string, string]>, afterwards: Array<string>, name: string, title: string | null, description: string, version: string, publisher: string, registry: string, status: "active" | "deprecated" | "deleted", status_message: string | null, repository: string | null, website: string | null, published: string | null, versions: number, ways: Array<ListedWay>, remarks: Array<Caution>, installed: string | null, measured: Measured | null, proof: NameProof, license?: string, stars?: number, downloads?: number, };

/**
 * Icons of servers: small PNGs, re-encoded by Satchel, as data URLs.
 */
export type ServerIcons = { icons: { [key in string]: string }, };

/**
 * The end of a server's log.
 */
export type ServerLog = { path: string, lines: Array<string>, };

/**
 * A question from a server during a call: an elicitation (`2026-07-28/client/elicitation.mdx`).
 */
export type ServerQuestion = { message: string, } & ({ "kind": "form", fields: Array<FormField>, } | { "kind": "secret", fields: Array<string>, } | { "kind": "credential", name: string, } | { "kind": "page", url: string, host: string, });

/**
 * A server's state. Times are milliseconds since the Unix epoch.
 */
export type ServerState = { "state": "off" } | { "state": "asleep" } | { "state": "starting", since_ms: number, phase: Phase, } | { "state": "ready", in_flight: number, sleeps_at_ms: number | null, } | { "state": "stopping" } | { "state": "backing_off", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "broken", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "needs_credential", names: Array<string>, variables: Array<string>, code: Code, message: string, cause?: FailureCause, } | { "state": "needs_sign_in", message: string, } | { "state": "invalid", message: string, };

/**
 * The state of one server.
 */
export type ServerView = { name: string, title: string | null, place: Place, enabled: boolean, startup: Startup, pid: number | null, tools: number | null, tokens: number | null, resources: number | null, prompts: number | null, skipped: Array<string>, held: number, not_started: NotStarted | null, unseen: Unseen | null, runs: string, idle_timeout_seconds: number, sandbox: Sandbox | null, starts: number, calls: number, wake_ms: number | null, fresh: boolean, last_failure: LastFailure | null, sign_in: SignInView | null, share: ShareView | null, usage: Usage, } & ({ "state": "off" } | { "state": "asleep" } | { "state": "starting", since_ms: number, phase: Phase, } | { "state": "ready", in_flight: number, sleeps_at_ms: number | null, } | { "state": "stopping" } | { "state": "backing_off", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "broken", code: Code, message: string, cause?: FailureCause, retry_at_ms: number, failures: number, } | { "state": "needs_credential", names: Array<string>, variables: Array<string>, code: Code, message: string, cause?: FailureCause, } | { "state": "needs_sign_in", message: string, } | { "state": "invalid", message: string, });

/**
 * One session in a list.
 */
export type SessionLine = { id: number, client: string, program: string, era: string, started_ms: number, last_ms: number, calls: number, searches: number, without: number, spent: Spent, net: number, counted: boolean, };

/**
 * Hides a server, or a tool as `server:tool`, from a client, or shows it again.
 */
export type SetHidden = { client: string, path: string, hidden: boolean, };

/**
 * Stores a secret.
 */
export type SetSecret = { name: string, value: string, };

/**
 * Sets a client's surface.
 */
export type SetSurface = { client: string, surface: Surface, };

/**
 * Rules and addresses that were written to the configuration file outside Satchel.
 */
export type SettingsChange = { fingerprint: string, diff: Array<DiffPart>, };

/**
 * A difference that a person reviewed.
 */
export type SetupChoice = { id: string, seen: string, };

/**
 * A part that differs in another setup.
 */
export type SetupDifference = { id: string, part: SetupPart, name: string, standing: SetupStanding, diff: Array<DiffPart>, folds_from?: number, warnings: Array<string>, seen: string, };

/**
 * The kinds of parts of a setup.
 */
export type SetupPart = "server" | "profile" | "setting" | "client" | "secrets";

/**
 * The differences between another setup and this one.
 */
export type SetupReview = { computer: string, written_ms: number, differences: Array<SetupDifference>, same: number, only_here?: number, sealed: boolean, };

/**
 * Selects a setup.
 */
export type SetupSource = { "file": string } | { "computer": string };

/**
 * How a part of another setup compares with this one.
 */
export type SetupStanding = "new" | "changed" | "removed" | "conflict";

/**
 * Which callers share one running instance of a server.
 */
export type Share = "all" | "client" | "session" | "project";

/**
 * Who shares an instance of a server, and the instances that not all share.
 */
export type ShareView = { share: Share, chosen: boolean, keeps: string | null, project: boolean, instances: Array<InstanceView>, };

/**
 * What sharing servers saved, as averages over the time in which servers ran.
 */
export type Sharing = { measured_hours: number, processes: number, memory_bytes: number, most_processes: number, most_memory_bytes: number, used_processes: number, used_memory_bytes: number, };

/**
 * The page to open for a sign-in. Answer to [`super::request::BeginSignIn`].
 */
export type SignInPage = { url: string, host: string, redirect: string, until_ms: number, not_opened?: Refusal | null, };

/**
 * The states of a sign-in.
 */
export type SignInState = { "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, };

/**
 * The sign-in state of a server.
 */
export type SignInView = { account: string | null, provider: string | null, scopes: Array<string>, since_ms: number, } & ({ "sign_in": "signed_out" } | { "sign_in": "needs_sign_in", reason: string, } | { "sign_in": "signing_in", until_ms: number, } | { "sign_in": "signed_in", ends_ms: number | null, renews: boolean, } | { "sign_in": "needs_more_rights", missing: Array<string>, wanted_by: string, } | { "sign_in": "needs_client_id", redirect: string, page: string | null, hint: string, } | { "sign_in": "renewal_delayed", reason: string, retry_at_ms: number, });

/**
 * Signs out.
 */
export type SignOut = { server: string, keep_registration?: boolean, };

/**
 * The result of signing out.
 */
export type SignedOut = { was_in: boolean, revoked: boolean | null, };

/**
 * An agent that reads skills from a folder.
 */
export type SkillAgent = { id: string, name: string, installed: boolean, folder: string, also_reads: Array<string>, };

/**
 * What became of giving a skill to agents, or of taking it from them.
 */
export type SkillChange = { skill: OwnSkill, refused: Array<Left>, };

/**
 * What agents do with a skill besides reading it.
 */
export type SkillRemark = { "remark": "runs_commands", command: string, } | { "remark": "permits", fields: Array<string>, } | { "remark": "has_programs", files: Array<string>, };

/**
 * What lies under a skill's name in an agent's folder.
 */
export type SkillStanding = { agent: string, folder: string, state: SkillState, changed: Array<string>, };

/**
 * What a folder of a skill's name is.
 */
export type SkillState = "given" | "older" | "changed" | "gone" | "own";

/**
 * The state of the hub at one moment.
 */
export type Snapshot = { version: number, endpoint: string | null, notices: Array<Notice>, servers: Array<ServerView>, clients: Array<ClientView>, avoided: Avoided, paused: Paused | null, ledger: LedgerView, asks: Array<Ask>, profiles: ProfilesView, pinned: Array<PinnedView>, pictures: PicturesView, listed: number, };

/**
 * The token cost of the hub.
 */
export type Spent = { definitions: number, find: number, describe: number, wrapping: number, };

/**
 * When a server is started.
 */
export type Startup = "lazy" | "keep-alive" | "eager" | "manual";

/**
 * The kinds of secret stores.
 */
export type StoreKind = "keychain" | "file";

/**
 * The secrets that are stored.
 */
export type StoredSecrets = { names: Array<string>, store: StoreKind, locked: boolean, };

/**
 * Which tools a client sees.
 */
export type Surface = "auto" | "router" | "direct" | "script";

/**
 * Applies reviewed parts of another setup.
 */
export type TakeSetup = { from: SetupSource, parts: Array<SetupChoice>, passphrase?: string | null, };

/**
 * Removes a skill from agents' folders.
 */
export type TakeSkill = { name: string, agents: Array<string>, leave: boolean, environment?: { [key in string]: string }, };

/**
 * The result of applying a setup.
 */
export type TakenSetup = { taken: Array<string>, secrets: number, off: Array<string>, waits: boolean, left: Array<Left>, };

/**
 * Where a new server runs.
 */
export type Target = { "kind": "command", command: string, args: Array<string>, env: { [key in string]: string }, cwd: string | null, } | { "kind": "url", url: string, headers: { [key in string]: string }, };

/**
 * The required format of a text.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/**
 * Durations of calls. The four parts are sums over all calls.
 */
export type Took = { median_ms: number, p95_ms: number, wait_ms: number, start_ms: number, upstream_ms: number, ours_ms: number, };

/**
 * All details of one tool.
 */
export type ToolDetails = { line: ToolLine, definition: string, };

/**
 * One tool in a list.
 */
export type ToolLine = { tool_path: string, description: string, signature: string, tokens: number | null, category: string, complexity: Complexity, version: number, first_seen_ms: number | null, changed_ms: number | null, why?: string | null, nature: Nature, permit: Permit, rule: string, usual?: UsualRule, };

/**
 * Search results.
 */
export type ToolList = { tools: Array<ToolLine>, total: number, };

/**
 * Number of calls and their cost.
 */
export type Totals = { calls: number, failures: number, searches: number, request_bytes: number, result_bytes: number, request_tokens: number, result_tokens: number, uncounted: number, took: Took, };

/**
 * The result of a call.
 */
export type Tried = { result: string, took_ms: number, };

/**
 * The result of a script.
 */
export type TriedScript = { result: string, took_ms: number, calls: Array<ScriptCall>, };

/**
 * The progress of a call.
 */
export type TryProgress = { seen: number, progress: number | null, total: number | null, message: string | null, log: Array<string>, over: boolean, };

/**
 * Runs a script for a person in the window, as the client [`super::trying::WINDOW`]. Followed and cancelled like
 * a call of [`TryTool`].
 */
export type TryScript = { run: string, script: string, input: string, };

/**
 * Calls a tool for a person in the window, as the client [`super::trying::WINDOW`]. Rules, approvals and records
 * apply as for any client.
 */
export type TryTool = { run: string, tool_path: string, arguments: string, page_of?: string | null, };

/**
 * Undoes the last change to another program's file, or the last import.
 */
export type Undo = { environment?: { [key in string]: string }, };

/**
 * What was undone.
 */
export type Undone = { what: string, remarks: Array<string>, };

/**
 * Unlocks the encrypted file until the hub stops.
 */
export type UnlockVault = { passphrase: string, };

/**
 * Why a server is not reviewed yet.
 */
export type Unseen = "new" | "imported";

/**
 * The resource use of a server's process tree.
 */
export type Usage = { processes: number | null, memory_bytes: number | null, cpu_percent: number | null, memory_most_bytes: number | null, cpu_most_percent: number | null, restarts: number, noise: number, };

/**
 * Stores secrets in the encrypted file, creating it if necessary.
 */
export type UseVault = { passphrase: string, };

/**
 * A default: it decides about tools that no rule of the user is about.
 */
export type UsualRule = { tools: UsualTools, permit: Permit, };

/**
 * The tools that a default is for.
 */
export type UsualTools = "every" | "reads" | "writes" | "destructive" | "deletes" | "commands" | "unstated";

/**
 * Waits for the end of the running sign-in.
 */
export type WaitForSignIn = { server: string, };

/**
 * Where a program is.
 */
export type Whereabouts = { "at": string } | "built_in" | { "not_executable": string } | { "absent": string } | { "missing": { command: string, instead: Array<string>, } };

/**
 * Why a definition is held back.
 */
export type Why = "changed" | "added" | "new" | "alarming" | "lost";

/**
 * Exports the complete setup into a file: a new one, or one that replaces an older setup.
 */
export type WriteSetup = { path: string, passphrase?: string | null, };

/**
 * The result of an export.
 */
export type WrittenSetup = { path: string, servers: number, others: number, secrets: number, left: Array<Left>, };

/** What may be asked, by method: its fields and its answer. */
export interface Requests {
  accounts: { fields: ListAccounts; answer: Array<AccountLine> };
  activity: { fields: ActivityAsk; answer: ActivityPage };
  add_skill: { fields: AddSkill; answer: OwnSkillDetails };
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
  enter_variable: { fields: EnterVariable; answer: Done };
  entry: { fields: GetEntry; answer: Entry };
  find_servers: { fields: FindServers; answer: Findings };
  follow_setup: { fields: FollowSetup; answer: FollowedSetup };
  follow_try: { fields: FollowTry; answer: TryProgress };
  followed_setup: { fields: GetFollowedSetup; answer: FollowedSetup };
  forget_habits: { fields: ForgetHabits; answer: Done };
  give_skill: { fields: GiveSkill; answer: SkillChange };
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
  own_skill: { fields: GetSkill; answer: OwnSkillDetails };
  own_skills: { fields: ListOwnSkills; answer: OwnSkills };
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
  remove_skill: { fields: RemoveSkill; answer: Done };
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
  take_skill: { fields: TakeSkill; answer: SkillChange };
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
