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
 * All of them. What is missing in the file is as it was before anybody chose.
 */
export type Choices = { notifications: Notify, closing: Closing, tray: boolean, };

/**
 * Which notifications are shown.
 */
export type Notify = "all" | "questions" | "none";

/**
 * What becomes of the hub when the window is closed.
 */
export type Closing = "serve" | "quit";
