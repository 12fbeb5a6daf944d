// Numbers and times as people read them. The only place that formats either.

interface Figures {
  whole: Intl.NumberFormat;
  short: Intl.NumberFormat;
  plain: Intl.NumberFormat;
  hours: Intl.DateTimeFormat;
  minutes: Intl.DateTimeFormat;
  days: Intl.DateTimeFormat;
  dates: Intl.DateTimeFormat;
  moments: Intl.DateTimeFormat;
  list: Intl.ListFormat;
  since: Intl.RelativeTimeFormat;
  past: (time: string) => string;
  about: (minutes: number) => string;
  thousand: string;
  million: string;
}

function figures(language: string): Figures {
  // Days and hours are written as here, with 24 hours, whatever the country.
  const [numbers, times] = language === "de" ? ["de-DE", "de-DE"] : ["en-US", "en-GB"];
  return {
    whole: new Intl.NumberFormat(numbers),
    short: new Intl.NumberFormat(numbers, { maximumFractionDigits: 1, minimumFractionDigits: 1 }),
    plain: new Intl.NumberFormat(numbers, { maximumFractionDigits: 1 }),
    hours: new Intl.DateTimeFormat(times, { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
    minutes: new Intl.DateTimeFormat(times, { hour: "2-digit", minute: "2-digit" }),
    days: new Intl.DateTimeFormat(times, { day: "numeric", month: "short" }),
    dates: new Intl.DateTimeFormat(times, { weekday: "long", day: "numeric", month: "long" }),
    moments: new Intl.DateTimeFormat(times, { weekday: "short", hour: "2-digit", minute: "2-digit" }),
    list: new Intl.ListFormat(times, { type: "conjunction" }),
    since: new Intl.RelativeTimeFormat(times, { style: "short", numeric: "always" }),
    past: (time) => (language === "de" ? `vor ${time}` : `${time} ago`),
    about: (minutes) => (minutes < 1 ? (language === "de" ? "unter 1 min" : "under 1 min") : language === "de" ? `etwa ${minutes} min` : `about ${minutes} min`),
    thousand: language === "de" ? "Tsd." : "k",
    million: language === "de" ? "Mio." : "M",
  };
}

let f = figures("en");

/** Figures of this language from now on. */
export function speakFigures(language: string): void {
  f = figures(language);
}

export const count = (value: number) => f.whole.format(value).replace("-", "−");

/** 655, 4.1 k, 83 k, 1.3 M; −23 k */
export function rough(value: number): string {
  if (value < 0) return `−${rough(-value)}`;
  if (value >= 999_500) return `${f.short.format(value / 1e6)} ${f.million}`;
  if (value >= 9_950) return `${f.whole.format(Math.round(value / 1e3))} ${f.thousand}`;
  if (value >= 1_000) return `${f.short.format(value / 1e3)} ${f.thousand}`;
  return f.whole.format(value);
}

/** 0.9, 12.3, 4: to one digit. */
export const tenths = (value: number) => f.plain.format(value);

/** 76 % as a whole number. */
export const percent = (share: number) => f.whole.format(Math.round(share * 100));

/** 2:14, counting down; never below 0:00. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** about 2 min, under 1 min: for what is waited for without looking; changes once a minute. */
export const about = (ms: number): string => f.about(ms < 60_000 ? 0 : Math.round(ms / 60_000));

/** 340 ms, 1.9 s, 6 s, 3 min, 2 h */
export function time(ms: number): string {
  if (ms < 1_000) return `${f.whole.format(Math.round(ms))} ms`;
  if (ms < 10_000) return `${f.plain.format(ms / 1000)} s`;
  if (ms < 120_000 && ms % 60_000 !== 0) return `${f.whole.format(Math.round(ms / 1000))} s`;
  if (ms < 7_200_000 && ms % 3_600_000 !== 0) return `${f.plain.format(ms / 60_000)} min`;
  return `${f.plain.format(ms / 3_600_000)} h`;
}

/** 12 s ago, 3 min ago, 2 days ago; the units as in a length of time. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return f.past(`${seconds} s`);
  if (seconds < 3_600) return f.past(`${Math.round(seconds / 60)} min`);
  if (seconds < 86_400) return f.past(`${Math.round(seconds / 3_600)} h`);
  return f.since.format(-Math.round(seconds / 86_400), "day");
}

/** 340 kB, 84 MB, 1.3 GB */
export function memory(bytes: number): string {
  if (bytes >= 999.5e6) return `${f.plain.format(bytes / 1e9)} GB`;
  if (bytes >= 999.5e3) return `${f.whole.format(Math.round(bytes / 1e6))} MB`;
  return `${f.whole.format(Math.round(bytes / 1e3))} kB`;
}

/** 14:31:40, this computer's time */
export const clockTime = (at: Date) => f.hours.format(at);
/** 14:31 */
export const shortTime = (at: Date) => f.minutes.format(at);
/** 21 Sep */
export const day = (at: Date) => f.days.format(at);
/** Saturday 21 November */
export const fullDay = (at: Date) => f.dates.format(at);
/** Tue 09:00 */
export const moment = (at: Date) => f.moments.format(at);
/** a, b and c */
export const listed = (names: string[]) => f.list.format(names);
