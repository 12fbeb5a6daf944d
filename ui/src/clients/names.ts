// The display name of an app; for unknown apps, the id its key was created for.
import { capital } from "../lib/refusal";
import { words } from "../words";

/** The client that the hub records for a person's own calls. */
export const WINDOW = "Satchel window";

/** As the hub names them. */
export const known: Record<string, string> = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "Visual Studio Code",
  "vscode-insiders": "Visual Studio Code Insiders",
  windsurf: "Windsurf / Devin Desktop",
  "devin-local": "Devin Local agent",
  zed: "Zed",
  "jetbrains-ai": "JetBrains AI Assistant",
  junie: "JetBrains Junie",
  "visual-studio": "Visual Studio 2022 17.14+ / 2026",
  "copilot-jetbrains": "GitHub Copilot for JetBrains",
  "copilot-xcode": "GitHub Copilot for Xcode",
  "xcode-claude-agent": "Xcode 26.3+ Claude Agent",
  "xcode-codex": "Xcode 26.3+ Codex agent",
  codex: "OpenAI Codex",
  "gemini-cli": "Gemini CLI",
  antigravity: "Google Antigravity",
  "qwen-code": "Qwen Code",
  "copilot-cli": "GitHub Copilot CLI",
  opencode: "opencode",
  "kilo-code": "Kilo Code",
  "factory-droid": "Factory droid",
  amp: "Amp",
  crush: "Charm Crush",
  goose: "Goose",
  warp: "Warp",
  kiro: "Kiro IDE and Kiro CLI",
  "amazon-q-cli": "Amazon Q Developer CLI",
  cline: "Cline",
  "roo-code": "Roo Code",
  continue: "Continue",
  "lm-studio": "LM Studio",
  boltai: "BoltAI",
  raycast: "Raycast",
  "chatgpt-desktop": "ChatGPT desktop / web",
  perplexity: "Perplexity",
  msty: "Msty Studio",
  "cherry-studio": "Cherry Studio",
  "5ire": "5ire",
  witsy: "Witsy",
  jan: "Jan",
  librechat: "LibreChat",
  "open-webui": "Open WebUI",
  "mcphub-nvim": "Neovim mcphub.nvim",
  "emacs-mcp": "Emacs mcp.el / gptel",
  "grok-build": "xAI Grok CLI",
  "kimi-code": "Kimi Code",
  pi: "Pi",
  mcporter: "MCPorter",
  augment: "Augment / Auggie CLI",
  "mistral-vibe": "Mistral Vibe",
  hermes: "Hermes Agent",
  gptme: "gptme",
  "grok-cli": "Grok CLI",
};

/** What is to be done in an app after it was connected, where anything is. */
export function lastStep(english: string | null | undefined): string {
  const { after, nothing } = words.clients;
  const said = english ? after(english) : "";
  return capital(said.startsWith(nothing) ? said.slice(nothing.length).replace(/^[;.]\s*/, "") : said);
}

export const nameOf = (id: string) => (id === WINDOW ? words.clients.window : (known[id] ?? id));
