// Written by `SATCHEL_WRITE_TYPES=1 cargo test -p satchel-app --lib typescript` from the Rust types. Not for editing.
import type { Refusal, Snapshot } from "./hub";

export type * from "./hub";

/**
 * Unknown is a value: what has not been told yet is neither zero nor fine.
 */
export type HubState = { "hub": "opening" } | { "hub": "open", snapshot: Snapshot, refused: Refused | null, } | { "hub": "held", pid: number | null, url: string | null, } | { "hub": "stopped", message: string, };

/**
 * A switch of a server that did not move, and why.
 */
export type Refused = { server: string, refusal: Refusal, };

/**
 * What this program is and where it keeps its files.
 */
export type About = { version: string, config_file: string, logs: string, sandbox: boolean, };

/**
 * A file or folder of Satchel's own.
 */
export type OwnPlace = "configuration" | "logs" | { "server_log": string };

/**
 * What is chosen.
 */
export type WantedFile = { "kind": "open", endings: Array<string>, } | { "kind": "save", name: string, } | { "kind": "folder" };

/**
 * What the window is told of a page: everything but the page.
 */
export type PageFrame = { id: string, address: string, connect: Array<string>, load: Array<string>, refused: Array<string>, border: boolean | null, };

/**
 * All of them. What is missing in the file is as it was before anybody chose.
 */
export type Choices = { notifications: Notify, closing: Closing, tray: boolean, updates: LookForUpdates, };

/**
 * Which notifications are shown.
 */
export type Notify = "all" | "questions" | "none";

/**
 * What becomes of the hub when the window is closed.
 */
export type Closing = "serve" | "quit";

/**
 * Are newer versions of this program looked for?
 */
export type LookForUpdates = "not_asked" | "on" | "off";

/**
 * All that the window shows.
 */
export type UpdatesView = { known: boolean, by: ReplacedBy, now: Standing, taken_back: string | null, };

/**
 * Who replaces this program.
 */
export type ReplacedBy = "itself" | "apt" | "rpm" | "pacman" | "nix" | "homebrew" | "scoop" | "hand";

/**
 * What is known of newer versions.
 */
export type Standing = { "standing": "unknown" } | { "standing": "looking" } | { "standing": "newest", at_ms: number, } | { "standing": "newer", version: string, notes: string, } | { "standing": "ready", version: string, notes: string, } | { "standing": "waiting", version: string, } | { "standing": "failed", message: string, action: string, };
