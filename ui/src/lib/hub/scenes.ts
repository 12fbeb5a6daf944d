// States of the hub worth looking at: `npm run dev`, then /?scene=NAME. All of it is invented.
import type { HubState, ServerView } from "./bindings";
import { open, server, snapshot } from "./fake";

const now = Date.now();

function usual(): ServerView[] {
  return [
    server("context7", { state: "asleep" }, {
      title: "Context7", place: "hosted", tools: 2, tokens: 655, runs: "https://mcp.context7.com/mcp",
    }),
    server("fetch", { state: "asleep" }, { title: "Fetch", tools: 1, tokens: 248, runs: "uvx mcp-server-fetch", wake_ms: 700 }),
    server("filesystem", { state: "asleep" }, {
      title: "Filesystem", tools: 11, tokens: 1804, runs: "npx -y @modelcontextprotocol/server-filesystem ~/work",
    }),
    server("github", { state: "ready", in_flight: 0, sleeps_at_ms: now + 134_000 }, {
      title: "GitHub", tools: 26, tokens: 4118, calls: 38, starts: 2, wake_ms: 1900,
      runs: "docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server",
      skipped: ["search_everything: its input schema is not an object"],
    }),
    server("linear", { state: "backing_off", code: "unreachable", message: "mcp.linear.app does not answer", retry_at_ms: now + 40_000, failures: 1 }, {
      title: "Linear", place: "hosted", tools: 22, tokens: 3020, runs: "https://mcp.linear.app/mcp",
    }),
    server("playwright", { state: "starting", since_ms: now - 6_000 }, { title: "Playwright", tools: 21, tokens: 3390, runs: "npx -y @playwright/mcp" }),
    server("postgres", { state: "needs_credential", names: ["DATABASE_URL"], message: "" }, {
      title: "Postgres", tools: 9, tokens: 1240, runs: "npx -y postgres-mcp ${secret:DATABASE_URL}",
    }),
    server("puppeteer", { state: "broken", code: "spawn_not_found", message: "npx was not found in PATH", retry_at_ms: now + 252_000, failures: 3 }, {
      title: "Puppeteer", tools: 7, tokens: 980, runs: "npx -y puppeteer-mcp", pid: null,
    }),
    server("sentry", { state: "ready", in_flight: 1, sleeps_at_ms: null }, {
      title: "Sentry", place: "hosted", tools: 17, tokens: 3211, runs: "https://mcp.sentry.dev/mcp", pid: null,
    }),
    server("slack", { state: "off" }, { title: "Slack", place: "hosted", tools: 14, tokens: 2302, runs: "https://mcp.slack.com/mcp" }),
    server("toolbox", { state: "asleep" }, { tools: null, tokens: null, resources: null, runs: "satchel toolbox", wake_ms: null, starts: 0, calls: 0 }),
  ];
}

function crowd(): ServerView[] {
  return Array.from({ length: 200 }, (_, at) => {
    const name = `server-${String(at + 1).padStart(3, "0")}`;
    if (at % 9 === 0) return server(name, { state: "ready", in_flight: 0, sleeps_at_ms: now + (at + 10) * 1000 });
    if (at % 31 === 0) return server(name, { state: "needs_credential", names: ["API_KEY", "API_HOST"], message: "" });
    if (at % 7 === 0) return server(name, { state: "off" });
    return server(name, { state: "asleep" }, { tools: at, tokens: at * 211 });
  });
}

export const scenes: Record<string, () => HubState> = {
  usual: () => open(snapshot(usual())),
  empty: () => open(snapshot([])),
  opening: () => ({ hub: "opening" }),
  stopped: () => ({ hub: "stopped", message: "cannot read /home/you/.config/satchel/config.json: permission denied" }),
  held: () => ({ hub: "held", pid: 5123, url: "http://127.0.0.1:7411/mcp" }),
  crowd: () => open(snapshot(crowd())),
  notice: () =>
    open(
      snapshot(usual(), {
        notices: [
          {
            code: "port_taken",
            message: "Port 7411 is taken by another program, so the address is now http://127.0.0.1:7412/mcp.",
            action: "Connect clients again with the new address, or free the port and restart.",
          },
        ],
      }),
      { server: "slack", refusal: { code: "config_invalid", message: "the configuration file cannot be written", action: "Free some space." } },
    ),
};
