// What a profile means for the lists of the window. Pure.
import type { Profile, ProfilesView, ProfileView, ServerView } from "../lib/hub/generated";

/** The profile that counts for clients without one of their own; `lost` where there is none of its name. */
export type Active = { kind: "everything" } | { kind: "lost"; name: string } | { kind: "profile"; profile: ProfileView };

export function activeOf({ active, all }: ProfilesView): Active {
  if (active === null) return { kind: "everything" };
  const profile = all.find((one) => one.name === active);
  return profile ? { kind: "profile", profile } : { kind: "lost", name: active };
}

/** The servers that clients do not see because of the active profile. */
export function outside(profiles: ProfilesView, servers: ServerView[]): ReadonlySet<string> {
  const active = activeOf(profiles);
  if (active.kind === "everything") return new Set();
  const inside = active.kind === "profile" ? active.profile.profile.servers : [];
  return new Set(servers.map((server) => server.name).filter((name) => !inside.includes(name)));
}

/** The profile with the server ticked, or not. */
export function ticked(profile: Profile, server: string, on: boolean): Profile {
  const rest = profile.servers.filter((name) => name !== server);
  return { ...profile, servers: on ? [...rest, server] : rest };
}
