// Cmd on a Mac, Ctrl elsewhere.
const mac = navigator.platform.startsWith("Mac");

export const isCommandKey = (event: KeyboardEvent) => (mac ? event.metaKey : event.ctrlKey) && !event.altKey;
export const shortcut = (key: string) => (mac ? `⌘${key}` : `Ctrl ${key}`);
