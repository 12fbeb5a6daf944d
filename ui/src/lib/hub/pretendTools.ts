// What the fake hub tells of tools, and what they answer. All of it is invented.
import { nature } from "./pretend";
import type { Effect, Offered, OfferedThing, PageFrame, ToolDetails } from "./generated";

export const toolNames = ["search_issues", "create_issue", "get_file_contents", "list_pull_requests", "merge_pull_request"];
const effects: Record<string, Effect> = { create_issue: "writes", merge_pull_request: "writes", delete_branch: "deletes" };

const repository = { owner: { type: "string", description: "Whose repository" }, repo: { type: "string", description: "Its name" } };
const schemas: Record<string, object> = {
  search_issues: {
    type: "object",
    required: ["query", "owner"],
    properties: {
      query: { type: "string", description: "What to look for, in GitHub's search syntax.\nLabels and states are understood." },
      ...repository,
      state: { type: "string", enum: ["open", "closed", "all"], default: "open" },
      labels: { type: "array", items: { enum: ["bug", "docs", "question", "good first issue"] }, uniqueItems: true },
      limit: { type: "integer", minimum: 1, maximum: 100, default: 30, description: "At most so many" },
      since: { type: ["string", "null"], format: "date-time", description: "Only newer ones" },
      archived: { type: "boolean", description: "Archived repositories too", default: false },
    },
  },
  create_issue: {
    type: "object",
    required: ["owner", "repo", "title"],
    properties: {
      ...repository,
      title: { type: "string", minLength: 1, maxLength: 100 },
      body: { type: "string", description: "In Markdown" },
      assignee: { anyOf: [{ type: "string", title: "One person" }, { type: "array", items: { type: "string" }, title: "Several" }] },
      milestone: { type: "object", required: ["title"], properties: { title: { type: "string" }, due: { type: "string", format: "date" } } },
      fields: { type: "object", additionalProperties: { type: "string" }, description: "Fields of the project, by name" },
    },
  },
  get_file_contents: { type: "object", required: ["owner", "repo", "path"], properties: { ...repository, path: { type: "string" } } },
  list_pull_requests: { type: "object", properties: repository },
  merge_pull_request: { type: "object", required: ["number"], properties: { number: { type: "integer" } } },
  current_time: { type: "object", properties: { timezone: { type: "string", description: "An IANA name", examples: ["Europe/Berlin"] } } },
};
const about: Record<string, string> = {
  search_issues: "Searches issues of a repository.\n\nReturns at most `limit` issues, newest first.",
};

export function tool(path: string): ToolDetails {
  const name = path.slice(path.indexOf(":") + 1);
  const effect = effects[name] ?? "reads";
  const description = about[name] ?? `${name.replaceAll("_", " ").replace(/^./, (sign) => sign.toUpperCase())}.`;
  const definition = { name, description, inputSchema: schemas[name] ?? { type: "object" }, outputSchema: name === "search_issues" ? { type: "object" } : undefined, _meta: name === "board" ? { ui: { resourceUri: "ui://github/board" } } : undefined };
  return {
    line: { tool_path: path, description, signature: `${name}(…)`, tokens: 173, category: effect === "reads" ? "reading" : "writing", complexity: "simple", version: 1, first_seen_ms: 0, changed_ms: null, nature: nature(effect), permit: effect === "writes" ? "ask" : "allow", rule: "tools that read: allowed", usual: { tools: "reads", permit: "allow" } },
    definition: JSON.stringify(definition),
  };
}

const picture = "iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAIAAABvFaqvAAAAQklEQVR42u3RMRUAMAwC0cipnMhBREUgogK75/ZM8P58C3XkoUFgqIQ2Q9dDg8CQ0GrIHhp4N5fQauh5aBAYEloMfbosmq47a2i3AAAAAElFTkSuQmCC";

function content(name: string): object {
  const text = (text: string) => ({ content: [{ type: "text", text }] });
  switch (name) {
    case "search_issues": {
      const issues = [
        { number: 4118, title: "Login loops after the session has ended", state: "open", comments: 12, labels: ["bug"] },
        { number: 4102, title: "Say which page a link leads to", state: "open", comments: 3, labels: ["docs"] },
        { number: 3977, title: "Crash at start without a keyring", state: "closed", comments: 31, labels: ["bug", "linux"] },
      ];
      return { ...text(JSON.stringify({ issues })), structuredContent: { issues } };
    }
    case "create_issue":
      return { content: [
        { type: "text", text: "## Created **#4119**\n\nIt can be seen [on its page](https://github.com/acme/web/issues/4119).\n\n- assigned to `ada`\n- labelled *bug*\n\n```json\n{ \"number\": 4119 }\n```\n\n| field | value |\n|---|---|\n| sprint | 12 |\n| size | S |" },
        { type: "resource_link", uri: "https://github.com/acme/web/issues/4119", name: "Issue 4119", description: "The issue that was created", mimeType: "text/html" },
      ] };
    case "get_file_contents":
      return { content: [{ type: "image", data: picture, mimeType: "image/png" }, { type: "resource", resource: { uri: "repo://acme/web/logo.bin", mimeType: "application/octet-stream", blob: "AAAA" } }] };
    case "merge_pull_request":
      return { ...text("The branch has conflicts with main."), isError: true };
    case "current_time":
      return text("2026-11-21T09:14:02+01:00");
    default:
      return text(JSON.stringify({ total: 2, pulls: { open: [{ number: 12, draft: false, author: null }], merged: [] }, id: 1 }));
  }
}

export const result = (path: string, _arguments: string) => JSON.stringify(content(path.slice(path.indexOf(":") + 1)));

/** A page in a browser without Tauri is empty; what it would fetch from is named. */
export const page = (server: string, uri: string): PageFrame => ({ id: `${server} ${uri}`, server, address: "about:blank", connect: [], load: ["https://cdn.example.com"], refused: [], border: null });

const readme = "# Acme web\n\nHow it is built, tested and shipped.";

/** What a server offers besides tools. */
export const offered: Offered = {
  resources: [
    { id: "repo://acme/web/README.md", title: "README.md", description: "The first thing to read", mime_type: "text/markdown", arguments: [] },
    { id: "repo://acme/web/issues", title: "Open issues", description: "", mime_type: "application/json", arguments: [] },
  ],
  templates: [{ id: "repo://{owner}/{repo}/{path}", title: "A file", description: "Any file of a repository", mime_type: null, arguments: [] }],
  prompts: [{ id: "review", title: "Review a change", description: "Looks at a pull request as a reviewer would", mime_type: null, arguments: [{ name: "number", description: "Which pull request", required: true }] }],
  more: 0,
};

export const readOffered = (what: OfferedThing) =>
  JSON.stringify(
    "resource" in what
      ? { contents: [{ uri: what.resource, mimeType: "text/markdown", text: readme }] }
      : { messages: [{ role: "user", content: { type: "text", text: `Review pull request ${what.prompt.arguments.number}.` } }] },
  );
