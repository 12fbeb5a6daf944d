// Where the window is: `/servers/NAME/TAB`, `/settings`. Kept in the address, and over a restart.

export type Screen = "servers" | "settings";
export type Tab = "overview" | "tools" | "log";
const tabs: readonly Tab[] = ["overview", "tools", "log"];

export interface Route {
  screen: Screen;
  server: string | undefined;
  tab: Tab;
}

export function parse(path: string): Route {
  const [screen, server, tab] = path.replace(/^#?\/?/, "").split("/").map(decode);
  if (screen === "settings") return { screen, server: undefined, tab: "overview" };
  return { screen: "servers", server: server || undefined, tab: tabs.find((one) => one === tab) ?? "overview" };
}

export function path(server?: string, tab: Tab = "overview"): string {
  if (server === undefined) return "/servers";
  return `/servers/${encodeURIComponent(server)}${tab === "overview" ? "" : `/${tab}`}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class Router {
  route = $state<Route>({ screen: "servers", server: undefined, tab: "overview" });

  constructor() {
    this.#read();
    addEventListener("hashchange", () => this.#read());
  }

  /** Goes there; Back returns. */
  go(to: string): void {
    location.hash = to;
    this.#read();
  }

  /** Goes there without a step to come back to: for moving through a list with the arrow keys. */
  slide(to: string): void {
    history.replaceState(null, "", `#${to}`);
    this.#read();
  }

  #read(): void {
    if (!location.hash) history.replaceState(null, "", `#${localStorage.getItem("place") ?? "/servers"}`);
    this.route = parse(location.hash);
    localStorage.setItem("place", location.hash.slice(1));
  }
}
