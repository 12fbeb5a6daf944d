// The display name of an app; for unknown apps, the id its key was created for.
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

export const nameOf = (id: string) => known[id] ?? id;
