// The marks, once they are read: not before the window is drawn, and not at all where no tile is.
import { findMark } from "./find";
// Drawings, and no script: fetched as they are.
import address from "./marks.json?url";

/** A path, and whether its inner parts are holes. */
export type Mark = [path: string, holes?: 1];

let known = $state.raw<Record<string, Mark>>();
let asked = false;

/** The mark of a name, when there is one and it has been read. */
export function markOf(name: string): Mark | undefined {
  if (!known) return undefined;
  const all = known;
  const mark = findMark(name, (one) => Object.hasOwn(all, one));
  return mark === undefined ? undefined : all[mark];
}

let proven = $state.raw<Readonly<Record<string, string>>>({});

/** Whose product a server runs, where the bundled list says so; its name proves nothing. */
export const productOf = (server: string): string | undefined => (Object.hasOwn(proven, server) ? proven[server] : undefined);

/** These servers run these products from now on. */
export const showProducts = (all: Readonly<Record<string, string>>): void => void (proven = all);

let pictures = $state.raw<Record<string, string>>({});

/** A server's own picture, where a person allowed pictures and it has one. */
export const pictureOf = (name: string): string | undefined => (Object.hasOwn(pictures, name) ? pictures[name] : undefined);

/** Shows these from now on. */
export const showPictures = (all: Record<string, string>): void => void (pictures = all);

/** Has the marks read, once. */
export function wantMarks(): void {
  if (asked) return;
  asked = true;
  // The first draw uses letters.
  requestAnimationFrame(() => setTimeout(() => void readMarks(), 0));
}

/** Where they cannot be read, letters stay. */
async function readMarks(): Promise<void> {
  try {
    known = (await (await fetch(address)).json()) as Record<string, Mark>;
  } catch {
    asked = false;
  }
}
