// The display name of an app; for unknown apps, the id its key was created for.
import { words } from "../words";

/** The client that the hub records for a person's own calls. */
export const WINDOW = "Satchel window";

const known: Record<string, string> = {
  cursor: "Cursor",
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  vscode: "Visual Studio Code",
  "vscode-insiders": "VS Code Insiders",
  windsurf: "Windsurf",
  zed: "Zed",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  "qwen-code": "Qwen Code",
  "copilot-cli": "Copilot CLI",
  opencode: "opencode",
  cline: "Cline",
  continue: "Continue",
  goose: "Goose",
  "kilo-code": "Kilo Code",
};

export const nameOf = (id: string) => (id === WINDOW ? words.clients.window : (known[id] ?? id));
