// The effect of a profile on the window's lists. Pure.
import type { Profile, ProfilesView, ServerView } from "../lib/hub/generated";

/** The servers that clients do not see because of the active profile: all, where there is none of its name. */
export function outside({ active, all }: ProfilesView, servers: ServerView[]): ReadonlySet<string> {
  const inside = all.find((one) => one.name === active)?.profile.servers ?? [];
  return new Set(active === null ? [] : servers.map((server) => server.name).filter((name) => !inside.includes(name)));
}

/** The profile with the server ticked, or not. */
export function ticked(profile: Profile, server: string, on: boolean): Profile {
  const rest = profile.servers.filter((name) => name !== server);
  return { ...profile, servers: on ? [...rest, server] : rest };
}

/** The paths in a text, one per line, without duplicates. */
export const lines = (text: string): string[] => [...new Set(text.split("\n").map((line) => line.trim()).filter((line) => line !== ""))];
