// Is a value that a server needs stored, and only locked away? Then typing it again would not help.
import type { Code } from "../lib/hub/generated";

export const isLocked = (code: Code) => code === "vault_locked" || code === "keychain_locked";
