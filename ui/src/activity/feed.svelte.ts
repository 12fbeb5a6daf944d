// The calls that are shown: the newest page is asked for again whenever there is a newer call or tokens were counted,
// older pages are added below. The feed asks for nothing while nothing happens.
import { untrack } from "svelte";
import type { ActivityAsk, ActivityPage, CallLine, LedgerView, Minute, Refusal, SessionLine } from "../lib/hub/generated";
import type { HubView } from "../lib/hub/state.svelte";

export const page = 200;

const everything: ActivityAsk = { before: null, limit: page, problems: false, asked: false, client: null, server: null, tool: null, session: null, from_ms: null, to_ms: null };

export interface Filter {
  problems: boolean;
  asked: boolean;
  /** Only calls made through this profile. */
  profile: string | null;
}

export class Feed {
  calls = $state.raw<CallLine[]>();
  sessions = $state.raw<ReadonlyMap<number, SessionLine>>(new Map());
  minutes = $state.raw<Minute[]>([]);
  problems = $state(0);
  asked = $state(0);
  more = $state(false);
  refusal = $state.raw<Refusal>();
  /** Are older calls on their way? */
  fetching = $state(false);
  #again = $state(0);
  #view: HubView;
  #filter: () => Filter;

  /** While `following` is false no call is added; the tokens of those in view still are. */
  constructor(view: HubView, filter: () => Filter, ledger: () => Pick<LedgerView, "newest" | "counted"> | undefined, following: () => boolean) {
    this.#view = view;
    this.#filter = filter;
    let last: string | undefined;
    let counted: number | undefined;
    const latest = $derived(ledger()?.newest);
    const counts = $derived(ledger()?.counted);
    $effect(() => {
      const only = filter();
      const kind = `${JSON.stringify(only)} ${this.#again}`;
      const fresh = kind !== last;
      // A paused list is not reloaded, except for a new filter, a retry, or the tokens of its own calls.
      const paused = !fresh && !following();
      if (paused && counts === counted) return;
      if (!paused) void latest;
      last = kind;
      counted = counts;
      let late = false;
      const top = paused ? untrack(() => this.calls)?.[0] : undefined;
      void this.#ask({ ...everything, before: top ? top.id + 1 : null, ...only }).then((found) => {
        if (late || !found) return;
        this.#take(found, fresh);
      });
      return () => (late = true);
    });
  }

  again(): void {
    this.#again++;
  }

  /** Adds the page below. */
  async older(): Promise<void> {
    const last = this.calls?.at(-1);
    if (!last || !this.more || this.fetching) return;
    this.fetching = true;
    const found = await this.#ask({ ...everything, before: last.id, ...this.#filter() });
    this.fetching = false;
    if (!found) return;
    this.calls = [...(this.calls ?? []), ...found.calls];
    this.#know(found.sessions);
    this.more = found.more;
  }

  async #ask(ask: ActivityAsk): Promise<ActivityPage | undefined> {
    const done = await this.#view.ask({ do: "activity", ...ask });
    this.refusal = "refusal" in done ? done.refusal : undefined;
    return "answer" in done ? done.answer : undefined;
  }

  #take(found: ActivityPage, fresh: boolean): void {
    this.minutes = found.minutes;
    this.problems = found.problems;
    this.asked = found.asked;
    if (fresh) this.sessions = new Map();
    this.#know(found.sessions);
    const known = fresh ? [] : (this.calls ?? []);
    const oldest = found.calls.at(-1)?.id ?? Infinity;
    // If the page overlaps the known calls, older ones stay; otherwise there is a gap, and they are dropped.
    const below = known.filter((call) => call.id < oldest);
    const meets = known.some((call) => call.id >= oldest);
    this.calls = meets ? [...found.calls, ...below] : found.calls;
    if (fresh || !meets || below.length === 0) this.more = found.more;
  }

  #know(sessions: SessionLine[]): void {
    this.sessions = new Map([...this.sessions, ...sessions.map((session) => [session.id, session] as const)]);
  }
}
