// Written by `SATCHEL_WRITE_TYPES=1 cargo test -p satchel-app --lib typescript` from the Rust types. Not for editing.
import type { Refusal, Snapshot } from "./hub";

export type * from "./hub";

/**
 * Has a value for unknown: what has not been reported is neither zero nor fine.
 */
export type HubState = { "hub": "opening" } | { "hub": "open", snapshot: Snapshot, refused: Refused | null, } | { "hub": "held", pid: number | null, url: string | null, } | { "hub": "stopped", message: string, };

/**
 * A server's switch that was refused, and why.
 */
export type Refused = { server: string, refusal: Refusal, };

/**
 * Facts about this program.
 */
export type About = { version: string, config_file: string, logs: string, sandbox: boolean, };

/**
 * One of Satchel's own files or folders.
 */
export type OwnPlace = "configuration" | "logs" | { "server_log": string };

/**
 * What to choose.
 */
export type WantedFile = { "kind": "open", endings: Array<string>, } | { "kind": "save", name: string, } | { "kind": "folder" };

/**
 * What windows are told of a page: everything but the page.
 */
export type PageFrame = { id: string, server: string, address: string, connect: Array<string>, load: Array<string>, refused: Array<string>, border: boolean | null, };

/**
 * One of them, and which page it is about.
 */
export type PageEvent = { id: string, said: PageSaid, };

/**
 * What the main window hears of a page.
 */
export type PageSaid = { "message": unknown } | { "width": number } | "closed";

/**
 * What the main window tells the window of a page.
 */
export type PageTold = { "message": unknown } | { "height": number };

/**
 * All choices. Missing ones have their defaults.
 */
export type Choices = { notifications: Notify, closing: Closing, tray: boolean, updates: LookForUpdates, language: Language | null, appearance: Appearance, };

/**
 * Which notifications are shown.
 */
export type Notify = "all" | "questions" | "none";

/**
 * What closing the window does.
 */
export type Closing = "serve" | "quit";

/**
 * Whether to look for updates.
 */
export type LookForUpdates = "not_asked" | "on" | "off";

/**
 * The languages there are; the window has the same.
 */
export type Language = "en" | "de";

/**
 * Which theme windows have.
 */
export type Appearance = "system" | "light" | "dark";

/**
 * What the window shows about updates.
 */
export type UpdatesView = { known: boolean, by: ReplacedBy, now: Standing, taken_back: string | null, };

/**
 * How this program is updated.
 */
export type ReplacedBy = "itself" | "apt" | "rpm" | "pacman" | "nix" | "homebrew" | "scoop" | "hand";

/**
 * The state of updates.
 */
export type Standing = { "standing": "unknown" } | { "standing": "looking" } | { "standing": "newest", at_ms: number, } | { "standing": "newer", version: string, notes: string, } | { "standing": "ready", version: string, notes: string, } | { "standing": "waiting", version: string, } | { "standing": "failed", message: string, action: string, };
