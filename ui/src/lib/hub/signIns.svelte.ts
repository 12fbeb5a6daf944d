// Signing in to hosted servers, as the window asks for it. How it stands is in the snapshot; here is what came of the
// person's own last step, which no snapshot tells.
import { sentences } from "../refusal";
import { words } from "../../words";
import type { Answer, Refusal, Request, SignInPage } from "./generated";

type Step = Extract<Request, { do: "begin_sign_in" | "cancel_sign_in" | "paste_sign_in" | "sign_out" | "enter_client" }>;

/** How the hub is asked and what was done is read aloud. */
interface Hand {
  ask<Asked extends Request>(request: Asked): Promise<{ answer: Answer<Asked> } | { refusal: Refusal }>;
  say(words: string): void;
}

export class SignIns {
  /** What came of the last step, where that has to be read. */
  told = $state.raw<{ server: string; text: string; bad: boolean }>();
  /** The page that was opened last. */
  page = $state.raw<SignInPage & { server: string }>();
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  /** The program opens the page; where one is open already, it is the same again. */
  async begin(server: string): Promise<void> {
    const page = await this.#ask({ do: "begin_sign_in", server, again: false });
    if (!page) return;
    this.page = { ...page, server };
    if (page.not_opened) this.#tell(server, `${sentences(page.not_opened)} ${words.signIn.notOpened}`);
  }

  cancel = (server: string) => this.#ask({ do: "cancel_sign_in", server });

  paste = (server: string, text: string) => this.#ask({ do: "paste_sign_in", server, text });

  async leave(server: string): Promise<void> {
    const left = await this.#ask({ do: "sign_out", server, keep_registration: false });
    if (left?.revoked === false) this.#tell(server, words.signIn.alone, false);
    else if (left) this.#hand.say(words.signIn.signedOut(server));
  }

  /** An app that the person registered with the provider; signing in goes on with it. */
  async enter(server: string, client_id: string, client_secret: string | null): Promise<void> {
    if (await this.#ask({ do: "enter_client", server, client_id, client_secret })) await this.begin(server);
  }

  async #ask<Asked extends Step>(request: Asked): Promise<Answer<Asked> | undefined> {
    const done = await this.#hand.ask(request);
    this.told = undefined;
    if ("answer" in done) return done.answer;
    // The form for it says more.
    if (done.refusal.code !== "needs_client_id" || request.do !== "begin_sign_in") this.#tell(request.server, sentences(done.refusal));
    return undefined;
  }

  #tell(server: string, text: string, bad = true): void {
    this.told = { server, text, bad };
  }
}
