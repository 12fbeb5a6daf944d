// Where the window is: `/servers/NAME/TAB`, `/servers/NAME/tools/TOOL`, `/catalog/ID`, `/settings`. Kept in the address, and over a restart.
import { leave } from "./leaving";

export const screens = ["servers", "catalog", "skills", "activity", "savings", "clients", "settings", "welcome"] as const;
export type Screen = (typeof screens)[number];
export type Tab = "overview" | "tools" | "offers" | "log" | "setup";
export const tabs: readonly Tab[] = ["overview", "tools", "offers", "log", "setup"];

export interface Route {
  screen: Screen;
  /** The selected item of the screen: a server, a catalog entry, a skill, a call, a client, a step. */
  item: string | undefined;
  /** The server chosen on Servers. */
  server: string | undefined;
  tab: Tab;
  /** The tool that is open on the tab of tools. */
  tool: string | undefined;
}

export function parse(path: string): Route {
  const [first, second, third, fourth] = path.replace(/^#?\/?/, "").split("/").map(decode);
  const screen = screens.find((one) => one === first) ?? "servers";
  const item = second || undefined;
  return { screen, item, server: screen === "servers" ? item : undefined, tab: tabs.find((one) => one === third) ?? "overview", tool: third === "tools" ? fourth || undefined : undefined };
}

export function path(server?: string, tab: Tab = "overview"): string {
  if (server === undefined) return "/servers";
  return `/servers/${encodeURIComponent(server)}${tab === "overview" ? "" : `/${tab}`}`;
}

export const toolAt = (server: string, tool: string) => `${path(server, "tools")}/${encodeURIComponent(tool)}`;

export const at = (screen: Screen, item?: string | number) => `/${screen}${item === undefined ? "" : `/${encodeURIComponent(item)}`}`;

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class Router {
  /** Where it is, or is about to be. */
  #heading: string | undefined;
  route = $state<Route>({ screen: "servers", item: undefined, server: undefined, tab: "overview", tool: undefined });

  constructor() {
    this.#read();
    $effect(() => {
      const read = () => this.#read();
      addEventListener("hashchange", read);
      return () => removeEventListener("hashchange", read);
    });
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
    if (location.hash === this.#heading) return;
    this.#heading = location.hash;
    const ended = leave();
    if (ended) void ended.then(() => this.#arrive());
    else this.#arrive();
  }

  #arrive(): void {
    this.route = parse(location.hash);
    // The first minute is not a place to come back to.
    if (this.route.screen !== "welcome") localStorage.setItem("place", location.hash.slice(1));
  }
}
