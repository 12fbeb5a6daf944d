// Which language is chosen. A change draws the window anew, so that words are plain values wherever they are used.
import { fetchWords, speak } from "../words";

export type Language = "en" | "de";
export type LanguageChoice = "system" | Language;
export const languages: readonly LanguageChoice[] = ["system", "en", "de"];

const system = (): Language => (navigator.language.toLowerCase().startsWith("de") ? "de" : "en");

class Languages {
  choice = $state<LanguageChoice>(languages.find((one) => one === localStorage.getItem("language")) ?? "system");
  /** The one that is shown: its words are here. */
  shown = $state<Language>("en");

  choose(choice: LanguageChoice): Promise<void> {
    this.choice = choice;
    localStorage.setItem("language", choice);
    return this.ready();
  }

  /** Shows the chosen language as soon as its words are here. */
  async ready(): Promise<void> {
    const chosen = this.choice;
    const wanted = chosen === "system" ? system() : chosen;
    await fetchWords(wanted);
    if (this.choice === chosen) this.shown = wanted;
  }

  /** Makes words and figures follow; returns the language. */
  settle(): Language {
    speak(this.shown);
    document.documentElement.lang = this.shown;
    return this.shown;
  }
}

export const language = new Languages();
