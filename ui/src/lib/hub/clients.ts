// What the screens about other programs ask and show, in the hub's own words (`satchel-core/src/model/clients.rs`).
import type { ConnectPreview, FoundServers, KnownClient, KnownClients, ProposedWish } from "./proposed";

/** What the hub says of one program; only what the screens use. */
export interface HubClient {
  id: string;
  name: string;
  installed: boolean;
  file: string | null;
  state: "not_connected" | "added" | "connected" | "needs_you" | "paste";
  what?: string;
  duplicates: { there: string; here: string }[];
  after_connect: string | null;
  surface: KnownClient["surface"];
  effective: KnownClient["effective"];
  reason: string;
  hidden: string[];
}

interface HubChange {
  files: { path: string; diff: string }[];
}

interface HubFindings {
  servers: { name: string; runs: string; enabled: boolean; places: string[]; known: string | null; secrets: string[] }[];
}

const everywhere = { everywhere: { project: null } };

/** The wish as the hub takes it; `undefined` for one that is not about other programs. */
export function asked(wish: { do: string }): object | undefined {
  const about = wish as ProposedWish;
  switch (about.do) {
    case "clients":
      return { do: "clients", clients: "list" };
    case "preview_connect":
      return { do: "clients", clients: "add", client: about.client, dry_run: true };
    case "connect_client":
      return { do: "clients", clients: "add", client: about.client, dry_run: false };
    case "undo_connect":
      return { do: "clients", clients: "remove", client: about.client, dry_run: false };
    case "set_surface":
      return { do: "clients", clients: "set_surface", client: about.client, surface: about.surface };
    case "set_hidden":
      return { do: "clients", clients: "set_hidden", client: about.client, path: about.path, hidden: about.hidden };
    case "move_in":
      return { do: "clients", clients: "import", from: { client: about.client }, take_out: true };
    case "move_back":
      return { do: "clients", clients: "undo" };
    case "found_servers":
      return { do: "clients", clients: "find", from: everywhere };
    case "import":
      return { do: "clients", clients: "import", from: everywhere, names: about.keys };
    default:
      return undefined;
  }
}

/** The hub's answer as the screens take it. */
export function answered(wish: { do: string }, answer: unknown): unknown {
  switch ((wish as ProposedWish).do) {
    case "clients":
      return known(answer as { clients: HubClient[] });
    case "preview_connect":
      return preview(answer as HubChange);
    case "found_servers":
      return found(answer as HubFindings);
    default:
      return answer;
  }
}

function known({ clients }: { clients: HubClient[] }): KnownClients {
  const shown = clients.filter((client) => client.installed || client.state === "added" || client.state === "connected" || client.state === "needs_you");
  return { looked: clients.length, clients: shown.filter((client) => client.state !== "paste").map(one) };
}

function one(client: HubClient): KnownClient {
  const state = stands(client);
  return {
    id: client.id,
    name: client.name,
    state,
    path: client.file,
    line: null,
    after: client.after_connect ?? "",
    duplicates: client.duplicates.map((duplicate) => duplicate.here),
    can_move: state === "connected" || state === "added",
    can_undo: state !== "found" && state !== "unreadable",
    surface: client.surface,
    effective: client.effective,
    reason: client.reason,
    hidden: client.hidden,
  };
}

function stands(client: HubClient): KnownClient["state"] {
  switch (client.state) {
    case "connected":
    case "added":
      return client.state;
    case "needs_you":
      // "moved": the address of before. Like one that was edited, it is put right by connecting again.
      return client.what === "vanished" ? "gone" : client.what === "unreadable" ? "unreadable" : "edited";
    default:
      return "found";
  }
}

function preview({ files }: HubChange): ConnectPreview {
  const lines = files
    .flatMap((file) => file.diff.split("\n"))
    .filter((line) => line !== "" && !/^(---|\+\+\+|@@|\\)/.test(line))
    .map((line) => ({ mark: mark(line), text: line.slice(1) }));
  return { path: files.map((file) => file.path).join(", "), lines };
}

function mark(line: string): " " | "+" | "-" {
  return line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
}

function found({ servers }: HubFindings): FoundServers {
  return {
    servers: servers.map((server) => {
      const place = server.places[0] ?? "";
      return {
        key: server.name,
        name: server.name,
        runs: server.runs,
        client: place,
        client_name: place,
        same_as: server.known,
        secrets: server.secrets.length,
        enabled: server.enabled,
      };
    }),
  };
}
