// Words the window is ready for and the hub does not speak yet. They move to bindings.ts, and get their sample, when
// the hub says them; until then only the fake hub does.

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
  /** Its settings hold our entry, so its own servers can be moved here. */
  can_move: boolean;
  can_undo: boolean;
  /** How tools come to it: what a person chose, what it is now, and why. */
  surface: Surface;
  effective: "router" | "direct";
  reason: string;
  /** What it does not see: servers, and tools as `server:tool`. */
  hidden: string[];
}

export type Surface = "auto" | "router" | "direct";

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
  | { do: "clients" }
  | { do: "preview_connect"; client: string }
  | { do: "connect_client"; client: string }
  | { do: "undo_connect"; client: string }
  | { do: "set_surface"; client: string; surface: Surface }
  | { do: "set_hidden"; client: string; path: string; hidden: boolean }
  | { do: "move_in"; client: string }
  | { do: "move_back" }
  | { do: "found_servers" }
  | { do: "import"; keys: string[] };
