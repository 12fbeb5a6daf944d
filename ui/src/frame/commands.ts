// What can be reached and done from anywhere, as the palette lists it. Pure: what runs is passed in.
import { computeCommandScore } from "bits-ui";
import type { HubState } from "../lib/hub/generated";
import { at, path, type Screen } from "../lib/route.svelte";
import { firstTab } from "../servers/groups";
import { sentence } from "../servers/sentence";
import { words } from "../words";

export type Group = "go" | "servers" | "commands" | "tools" | "catalog";

export interface Item {
  id: string;
  group: Group;
  label: string;
  /** A few words beside it. */
  beside?: string;
  keys?: string;
  /** Other words it can be found by. */
  also?: string[];
  run: () => void;
}

export interface Doing {
  go: (path: string) => void;
  add: () => void;
  copy: () => void;
  pause: (untilMs: number | null) => void;
  resume: () => void;
  theme: (dark: boolean) => void;
  shortcuts: () => void;
  quit: () => void;
  restart: (server: string) => void;
  enable: (server: string, on: boolean) => void;
  profile: (name: string | null) => void;
}

const hour = 3_600_000;

/** Nine in the morning of the next day, this computer's time. */
export function tomorrow(now: number): number {
  const day = new Date(now);
  day.setDate(day.getDate() + 1);
  day.setHours(9, 0, 0, 0);
  return day.getTime();
}

export function itemsOf(state: HubState, now: number, dark: boolean, keys: (key: string) => string, doing: Doing): Item[] {
  const w = words.palette.commands;
  const go = (screen: Screen, label: string, key: string): Item => ({
    id: `go ${screen}`,
    group: "go",
    label,
    keys: keys(key),
    run: () => doing.go(at(screen)),
  });
  const command = (id: string, label: string, run: () => void, more: Partial<Item> = {}): Item => ({ id, group: "commands", label, run, ...more });
  const snapshot = state.hub === "open" ? state.snapshot : undefined;
  return [
    go("servers", words.nav.servers, "1"),
    go("catalog", words.nav.catalog, "2"),
    go("activity", words.nav.activity, "3"),
    go("savings", words.nav.savings, "4"),
    go("clients", words.nav.clients, "5"),
    go("settings", words.nav.settings, ","),
    ...(snapshot?.servers ?? []).map(
      (server): Item => ({
        id: `server ${server.name}`,
        group: "servers",
        label: server.name,
        beside: sentence(server, now).spoken,
        also: [server.title ?? "", server.runs],
        run: () => doing.go(path(server.name, firstTab(server))),
      }),
    ),
    ...(snapshot
      ? [
          command("add", w.add, doing.add, { keys: keys("N") }),
          ...(snapshot.endpoint ? [command("copy", w.copy, doing.copy)] : []),
          ...(snapshot.paused
            ? [command("resume", w.resume, doing.resume)]
            : [
                command("pause hour", w.pauseHour, () => doing.pause(now + hour)),
                command("pause tomorrow", w.pauseTomorrow, () => doing.pause(tomorrow(now))),
                command("pause", w.pause, () => doing.pause(null)),
              ]),
        ]
      : []),
    ...(snapshot?.profiles.all ?? [])
      .filter((profile) => profile.fault === null && profile.name !== snapshot?.profiles.active)
      .map((profile) => command(`profile ${profile.name}`, w.profile(profile.name), () => doing.profile(profile.name), { also: [words.profiles.profile] })),
    ...(snapshot && snapshot.profiles.active !== null ? [command("everything", w.everything, () => doing.profile(null), { also: [words.profiles.profile] })] : []),
    command("theme", dark ? w.light : w.dark, () => doing.theme(!dark)),
    command("welcome", w.welcome, () => doing.go(at("welcome", 1))),
    command("doctor", w.doctor, () => doing.go(at("settings", "doctor"))),
    command("shortcuts", w.shortcuts, doing.shortcuts, { keys: "?" }),
    command("quit", w.quit, doing.quit),
    ...(snapshot?.servers ?? []).flatMap((server) => [
      command(`switch ${server.name}`, server.enabled ? w.off(server.name) : w.on(server.name), () => doing.enable(server.name, !server.enabled)),
      ...(server.enabled ? [command(`restart ${server.name}`, w.restart(server.name), () => doing.restart(server.name))] : []),
    ]),
  ];
}

/** Commands that match a text, best first within each group; without a text, the initial suggestions. */
export function found(items: Item[], text: string): Item[] {
  const wanted = text.trim();
  if (!wanted) return items.filter((item) => item.group !== "commands" || !/^(switch|restart) /.test(item.id)).slice(0, 40);
  const scored = items.map((item) => ({ item, score: computeCommandScore(item.label, wanted, item.also?.filter(Boolean)) }));
  return scored
    .filter(({ score }) => score > 0.05)
    .sort((a, b) => b.score - a.score)
    .slice(0, 24)
    .map(({ item }) => item);
}
