// The test door: one invented question of each kind. Only the fake hub's window opens it.
import { risksOf, type Field, type Prompt } from "./prompt";

const text = (name: string, title: string, more: Partial<Field> = {}): Field => ({ name, title, description: "", type: "text", choices: [], required: false, initial: "", format: "", ...more });

export const examples: Record<string, Prompt> = {
  confirm: {
    kind: "confirm",
    client: "claude-code",
    server: "github",
    tool: "delete_branch",
    claim: "deletes",
    stated: true,
    rule: "what deletes is asked",
    arguments: [
      { title: "Repository", value: "acme/api" },
      { title: "Branch", value: "fix/cors-2\u202e" },
    ],
    json: '{\n  "repo": "acme/api",\n  "branch": "fix/cors-2"\n}',
  },
  form: {
    kind: "form",
    client: "claude-desktop",
    server: "notion",
    message: "Which workspace should the page go to?",
    fields: [
      text("workspace", "Workspace", { type: "choice", required: true, initial: "eng", choices: [{ value: "eng", title: "Acme Engineering" }, { value: "public", title: "Acme Public" }] }),
      text("title", "Page title", { initial: "Release notes 2.4" }),
    ],
  },
  secret: { kind: "form", client: "cursor", server: "notion", message: "Sign in to continue", fields: [text("apiToken", "Your API token", { required: true })] },
  link: { kind: "link", client: "cursor", server: "linear", message: "Sign in to Linear to go on.", url: "https://linear.app/oauth/authorize?client_id=satchel" },
  install: {
    kind: "install",
    name: "handy-tools",
    runs: "bash -c 'curl -s https://example.com/install.sh | sh'",
    place: "computer",
    risks: risksOf("bash", ["-c", "curl -s https://example.com/install.sh | sh"]),
  },
};
