// The hub, as the window reaches it: one snapshot in, requests out.
import type { About, Answer, Ask, Choices, HubState, OwnPlace, PageEvent, PageFrame, PageSaid, PageTold, Request, UpdatesView, WantedFile } from "./generated";

/** The requests that the window of questions may make. */
export type QuestionRequest = Extract<Request, { do: "answer_ask" | "answer_question" | "answer_secret" | "reading_ask" }>;

/** The actions that the window of questions may take, and no others. */
export interface Prompts {
  /** What waits, in the order in which it is answered. */
  asks(): Promise<Ask[]>;
  /** Calls back at every change. */
  onAsks(heard: (asks: Ask[]) => void): Promise<() => void>;
  /** Rejects with a `Refusal`. */
  answer(request: QuestionRequest): Promise<void>;
  /** Fits the window's height to its content. */
  fit(height: number): void;
  /** The pictures of the servers that ask, where a person allowed pictures. */
  pictures(): Promise<Record<string, string>>;
}

/** The actions that the window of a server's own page may take, and no others. */
export interface PageSide {
  /** What it shows; `null` where it is not known any more. */
  shown(): Promise<PageFrame | null>;
  /** Calls back with what the main window tells it. */
  onTold(heard: (told: PageTold) => void): Promise<() => void>;
  /** Passes something on to the main window. */
  says(said: PageSaid): Promise<void>;
  /** Fits the window's height to its content. */
  fit(height: number): void;
}

export interface Hub {
  /** What the hub is now. */
  state(): Promise<HubState>;
  /** Calls back at every change; resolves to a function that stops it. */
  onState(heard: (state: HubState) => void): Promise<() => void>;
  /** Calls back when the tray or a second start wants a place in the window shown, such as `/settings`. */
  onGo(heard: (path: string) => void): Promise<() => void>;
  /** Calls back at the first close of all, which the window has to explain. */
  onClosing(heard: () => void): Promise<() => void>;
  /** Hides the window; the hub goes on. */
  closeWindow(): Promise<void>;
  /** Says whether the page shows this question, so that no window of its own asks it too. */
  questionInPage(id: number, shown: boolean): Promise<void>;
  /** Resolves to the hub's answer, rejects with a `Refusal`. */
  ask<Asked extends Request>(request: Asked): Promise<Answer<Asked>>;
  about(): Promise<About>;
  startsAtLogin(): Promise<boolean>;
  /** Resolves to what it is afterwards. */
  setStartsAtLogin(on: boolean): Promise<boolean>;
  choices(): Promise<Choices>;
  choose(choices: Choices): Promise<void>;
  updates(): Promise<UpdatesView>;
  /** Looks for a newer version of the program, and fetches it where the program replaces itself. */
  lookForUpdate(): Promise<UpdatesView>;
  /** Installs what was fetched as soon as nothing runs; rejects with a `Refusal` where there is nothing. */
  installUpdate(): Promise<UpdatesView>;
  /** Was this page made anew because its process ended? Once. */
  wasRenewed(): Promise<boolean>;
  copy(text: string): Promise<void>;
  /** Opens a page in the browser that a tool's result names; rejects with a `Refusal` for any other. */
  openPage(page: string): Promise<void>;
  /** Reads a server's page for a tool, and shows it in a window of its own; rejects with a `Refusal`. */
  showPage(server: string, uri: string): Promise<PageFrame>;
  /** Calls back with what such pages say. */
  onPage(heard: (event: PageEvent) => void): Promise<() => void>;
  tellPage(id: string, told: PageTold): Promise<void>;
  /** Ends a page and closes its window, whatever it does. */
  closePage(id: string): Promise<void>;
  /** Brings the window of a page to the front, or this one. */
  raise(page: string | null): Promise<void>;
  /** Opens an address that such a page wants opened; rejects with a `Refusal` for one that nothing names. */
  openPageLink(id: string, address: string): Promise<void>;
  /** Opens a file or folder of Satchel's own with the desktop's program for it; rejects with a `Refusal`. */
  openPlace(place: OwnPlace): Promise<void>;
  /** Shows the system's chooser; resolves to the path, or to nothing where none was chosen. */
  chooseFile(wanted: WantedFile): Promise<string | null>;
  /** Opens the hub again after it was held by another program or stopped. */
  tryAgain(): Promise<void>;
  quit(): Promise<void>;
}
