// What a person has half filled in, kept for this window beyond the end of its page: a page whose process ended is made anew
// and finds it here. Never a credential, and nothing beyond the window's life.

/** A longer draft is not kept. */
const LONGEST = 200_000;
const keyOf = (what: string) => `draft ${what}`;

export function keep(what: string, text: string | undefined): void {
  try {
    if (text === undefined || text === "" || text.length > LONGEST) sessionStorage.removeItem(keyOf(what));
    else sessionStorage.setItem(keyOf(what), text);
  } catch {
    // Where nothing can be kept, the form works all the same.
  }
}

export function kept(what: string): string | undefined {
  try {
    return sessionStorage.getItem(keyOf(what)) ?? undefined;
  } catch {
    return undefined;
  }
}
