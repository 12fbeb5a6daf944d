// Numbers and times as people read them. The only place that formats either.
const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1, minimumFractionDigits: 1 });
const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const count = (value: number) => whole.format(value);

/** 655, 4.1 k, 83 k, 1.3 M */
export function rough(value: number): string {
  if (value >= 999_500) return `${short.format(value / 1e6)} M`;
  if (value >= 9_950) return `${whole.format(Math.round(value / 1e3))} k`;
  if (value >= 1_000) return `${short.format(value / 1e3)} k`;
  return whole.format(value);
}

/** 2:14, counting down; never below 0:00. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** 340 ms, 1.9 s, 6 s, 3 min, 2 h */
export function time(ms: number): string {
  if (ms < 1_000) return `${whole.format(Math.round(ms))} ms`;
  if (ms < 10_000) return `${plain.format(ms / 1000)} s`;
  if (ms < 120_000 && ms % 60_000 !== 0) return `${whole.format(Math.round(ms / 1000))} s`;
  if (ms < 7_200_000 && ms % 3_600_000 !== 0) return `${plain.format(ms / 60_000)} min`;
  return `${plain.format(ms / 3_600_000)} h`;
}

/** 340 kB, 84 MB, 1.3 GB */
export function memory(bytes: number): string {
  if (bytes >= 999.5e6) return `${plain.format(bytes / 1e9)} GB`;
  if (bytes >= 999.5e3) return `${whole.format(Math.round(bytes / 1e6))} MB`;
  return `${whole.format(Math.round(bytes / 1e3))} kB`;
}

/** 14:31:40, this computer's time */
export const clockTime = (at: Date) => hours.format(at);
