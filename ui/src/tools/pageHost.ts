// The host's side of a page of MCP Apps (SEP-1865, 2026-01-26): JSON-RPC by messages. Pure: what it sends and does is given to
// it. The page is a stranger's program; it gets what is its own, and asks for everything else.
const REVISION = "2026-01-26";
/** So many requests of a page are answered at once, and so long may one be. */
const AT_ONCE = 8;
const LONGEST = 1_000_000;

/** Plain JSON, as messages carry it. */
type Plain = Record<string, unknown>;

export interface PageAbout {
  /** The tool's definition, its arguments, and its result. */
  tool: Plain;
  input: Plain;
  result: unknown;
  /** The origins that it may reach. */
  reach: { connect: string[]; load: string[] };
  version: string;
  /** Theme, language, room. */
  context: () => Plain;
}

export interface PageHandlers {
  /** Calls a tool of the page's own server; rejects with an `Error`. */
  call(tool: string, input: string): Promise<unknown>;
  /** Reads a resource of the page's own server. */
  read(uri: string): Promise<unknown>;
  /** A person is asked whether to open it. */
  link(address: string): Promise<boolean>;
  /** The height of its content. */
  height(pixels: number): void;
  /** A line of its log. */
  log(line: string): void;
}

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown, what: string) => {
  if (typeof value !== "string" || value === "" || value.length > LONGEST) throw new Refused(-32602, `${what} must be a text`);
  return value;
};

export class PageHost {
  readonly #about: PageAbout;
  readonly #send: (message: Plain) => void;
  readonly #handlers: PageHandlers;
  /** The state of the handshake. */
  #stage: "new" | "answered" | "ready" = "new";
  #under = 0;
  #leaving: (() => void) | undefined;
  #left: Promise<void> | undefined;

  constructor(about: PageAbout, send: (message: Plain) => void, handlers: PageHandlers) {
    this.#about = about;
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Handles a message of the page. Invalid messages are ignored. */
  async hear(message: unknown): Promise<void> {
    if (!isPlain(message) || message.jsonrpc !== "2.0") return;
    const { id, method } = message;
    const params = isPlain(message.params) ? message.params : {};
    if (typeof method !== "string") {
      if (id === TEARDOWN) this.#leaving?.();
      return;
    }
    if (typeof id !== "string" && typeof id !== "number") return this.#told(method, params);
    const answer = await this.#answered(method, params).then(
      (result) => ({ result }),
      (cause: unknown) => ({ error: { code: cause instanceof Refused ? cause.code : -32000, message: cause instanceof Error ? cause.message : String(cause) } }),
    );
    this.#send({ jsonrpc: "2.0", id, ...answer });
    if (method === "ui/initialize" && this.#stage === "new") this.#stage = "answered";
  }

  /** Theme, language or room are others now. */
  changed(context: Plain): void {
    if (this.#stage === "ready") this.#tell("ui/notifications/host-context-changed", context);
  }

  /** Lets the page end in order; resolves when it has, or after `patience` milliseconds. */
  leave(patience: number): Promise<void> {
    if (this.#stage === "new") return Promise.resolve();
    this.#left ??= new Promise((done) => {
      this.#leaving = done;
      setTimeout(done, patience);
      this.#send({ jsonrpc: "2.0", id: TEARDOWN, method: "ui/resource-teardown", params: {} });
    });
    return this.#left;
  }

  #tell(method: string, params: unknown) {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  #told(method: string, params: Plain): void {
    if (method === "ui/notifications/initialized" && this.#stage === "answered") {
      this.#stage = "ready";
      this.#tell("ui/notifications/tool-input", { arguments: this.#about.input });
      this.#tell("ui/notifications/tool-result", this.#about.result);
    } else if (method === "ui/notifications/size-changed") {
      if (typeof params.height === "number" && Number.isFinite(params.height)) this.#handlers.height(params.height);
    } else if (method === "notifications/message") {
      const data = typeof params.data === "string" ? params.data : (JSON.stringify(params.data) ?? "");
      this.#handlers.log(`${typeof params.level === "string" ? params.level : ""} ${data}`.trim().slice(0, 300));
    }
  }

  async #answered(method: string, params: Plain): Promise<unknown> {
    switch (method) {
      case "ping":
        return {};
      case "ui/initialize":
        return this.#welcome();
      case "ui/request-display-mode":
        return { mode: "inline" };
      case "ui/message":
      case "ui/update-model-context":
        throw new Refused(-32000, "Satchel shows this page outside of any conversation, so no model can be told");
      case "tools/call":
      case "resources/read":
      case "ui/open-link":
        return this.#carriedOut(method, params);
      default:
        throw new Refused(-32601, `Satchel does not offer ${method.slice(0, 100)} to pages`);
    }
  }

  #welcome(): Plain {
    const { tool, reach, version, context } = this.#about;
    return {
      protocolVersion: REVISION,
      hostInfo: { name: "Satchel", version },
      hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, sandbox: { permissions: {}, csp: { connectDomains: reach.connect, resourceDomains: reach.load } } },
      hostContext: { toolInfo: { tool }, displayMode: "inline", availableDisplayModes: ["inline"], platform: "desktop", userAgent: `Satchel/${version}`, ...context() },
    };
  }

  async #carriedOut(method: "tools/call" | "resources/read" | "ui/open-link", params: Plain): Promise<unknown> {
    if (this.#stage !== "ready") throw new Refused(-32002, "the page has not said that it is initialized");
    if (this.#under >= AT_ONCE) throw new Refused(-32000, `no more than ${AT_ONCE} requests are answered at once`);
    this.#under++;
    try {
      if (method === "resources/read") return await this.#handlers.read(text(params.uri, "uri"));
      if (method === "tools/call") {
        const input = JSON.stringify(params.arguments ?? {});
        if (input === undefined || input.length > LONGEST || !isPlain(params.arguments ?? {})) throw new Refused(-32602, "arguments must be an object");
        return await this.#handlers.call(text(params.name, "name"), input);
      }
      if (!(await this.#handlers.link(text(params.url, "url")))) throw new Refused(-32000, "the person did not open it");
      return {};
    } finally {
      this.#under--;
    }
  }
}

/** The one request that goes the other way. */
const TEARDOWN = "satchel-teardown";
