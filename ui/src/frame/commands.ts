// What can be reached and done from anywhere, as the palette lists it. Pure: what runs is passed in.
import { computeCommandScore } from "bits-ui";
import type { HubState, ToolLine } from "../lib/hub/generated";
import type { Language } from "../lib/language.svelte";
import { parts } from "../lib/path";
import { at, path, type Screen } from "../lib/route.svelte";
import { firstTab } from "../servers/groups";
import { sentence } from "../servers/sentence";
import { words, type Words } from "../words";

export type Group = "go" | "servers" | "commands" | "tools" | "catalog";

export interface Item {
  id: string;
  group: Group;
  label: string;
  /** A few words beside it. */
  beside?: string;
  keys?: string;
  /** Other names of it. */
  also?: string[];
  /** A text that it is found by only where it contains what is looked for. */
  within?: string;
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
  language: (language: Language) => void;
}

const hour = 3_600_000;
const languages: readonly Language[] = ["en", "de"];
/** The sections of Settings, but for the doctor, who has a command of its own. */
const settings = ["general", "window", "credentials", "history", "setup", "about"] as const;
/** What can be set in a section, by the names that stand there. */
const set = ({ setup, history, ...w }: Words["settings"]): readonly (readonly [(typeof settings)[number], string])[] => [
  ["general", w.login],
  ["general", w.notifications],
  ["window", w.appearance],
  ["window", w.pictures],
  ["window", w.closing],
  ["window", w.tray],
  ["history", history.learns],
  ["history", history.erase],
  ["setup", setup.export],
  ["setup", setup.import],
  ["setup", setup.follow],
  ["about", w.updates.title],
  ["about", w.logs],
];
/** Commands that are found, and not suggested. */
const unsuggested = /^(switch|restart|language|settings) /;

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
    go("skills", words.nav.skills, "3"),
    go("activity", words.nav.activity, "4"),
    go("savings", words.nav.savings, "5"),
    go("clients", words.nav.clients, "6"),
    go("settings", words.nav.settings, ","),
    ...(snapshot?.servers ?? []).map(
      (server): Item => ({
        id: `server ${server.name}`,
        group: "servers",
        label: server.name,
        beside: sentence(server, now).spoken,
        also: [server.title ?? ""],
        within: server.runs,
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
    ...languages.map((one) => command(`language ${one}`, words.settings.languages[one], () => doing.language(one), { beside: words.settings.language, also: [words.settings.language] })),
    ...settings.map((one) => {
      const name = words.settings.sections[one];
      return command(`settings ${one}`, name, () => doing.go(at("settings", one)), { beside: words.nav.settings, also: [`${words.nav.settings} ${name}`] });
    }),
    ...set(words.settings).map(([section, name]) => command(`settings ${section} ${name}`, name, () => doing.go(at("settings", section)), { beside: words.settings.sections[section] })),
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

/** How well an item goes with a text: 3 where that is its name, 2 where its name begins with it, less where it is only alike. */
export function rank(item: Pick<Item, "label" | "also" | "within">, text: string): number {
  const wanted = text.trim().toLowerCase();
  // The marks around a name in a command are not typed.
  const names = [item.label, ...(item.also ?? [])].map((name) => name.replace(/[“”„]/g, "")).filter(Boolean);
  const ranks = names.map((name) => {
    if (name.toLowerCase() === wanted) return 3;
    return name.toLowerCase().startsWith(wanted) ? 2 : computeCommandScore(name, wanted);
  });
  return Math.max(...ranks, item.within?.toLowerCase().includes(wanted) ? 2 * LEAST : 0);
}

/** Less alike than this is not found. */
const LEAST = 0.05;

/** Items that match a text, best first; without a text, the initial suggestions. */
export function found(items: Item[], text: string): Item[] {
  if (!text.trim()) return items.filter((item) => item.group !== "commands" || !unsuggested.test(item.id)).slice(0, 40);
  const ranked = items.map((item) => ({ item, rank: rank(item, text) }));
  return ranked
    .filter(({ rank }) => rank > LEAST)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, 24)
    .map(({ item }) => item);
}

const order: readonly Group[] = ["go", "servers", "commands", "tools", "catalog"];

/** The groups of what was found. One with a name that is the text, or begins with it, comes before the others. */
export function grouped(items: Item[], text: string): { group: Group; items: Item[] }[] {
  const groups = order.map((group) => ({ group, items: items.filter((item) => item.group === group) })).filter((one) => one.items.length > 0);
  if (!text.trim()) return groups;
  const best = (of: Item[]) => Math.max(...of.map((item) => Math.floor(rank(item, text))));
  return groups.sort((a, b) => best(b.items) - best(a.items));
}

/** Of all tools, those whose path or description contains every word of a text, by their names; similar ones where nothing else was found. */
export function toolsFor(all: ToolLine[], similar: ToolLine[], text: string, others: boolean): ToolLine[] {
  const typed = text.trim().toLowerCase().split(/\s+/);
  const literal = (text: string) => typed.every((word) => text.toLowerCase().includes(word));
  const named = all.filter((tool) => literal(tool.tool_path));
  const rankOf = (tool: ToolLine) => rank({ label: parts(tool.tool_path)[1] ?? "" }, text);
  const known = new Set(named.map((tool) => tool.tool_path));
  const described = [...similar, ...all].filter((tool) => !known.has(tool.tool_path) && literal(`${tool.tool_path} ${tool.description}`) && known.add(tool.tool_path));
  const tools = [...named.sort((a, b) => rankOf(b) - rankOf(a)), ...described];
  return tools.length > 0 || others ? tools.slice(0, 6) : similar.slice(0, 3);
}
