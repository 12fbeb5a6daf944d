// Which language is chosen. A change draws the window anew, so that words are plain values wherever they are used.
import { speak } from "../words";

export type Language = "en" | "de";
export type LanguageChoice = "system" | Language;
export const languages: readonly LanguageChoice[] = ["system", "en", "de"];

const system = (): Language => (navigator.language.toLowerCase().startsWith("de") ? "de" : "en");

class Languages {
  choice = $state<LanguageChoice>(languages.find((one) => one === localStorage.getItem("language")) ?? "system");
  shown = $derived<Language>(this.choice === "system" ? system() : this.choice);

  choose(choice: LanguageChoice): void {
    this.choice = choice;
    localStorage.setItem("language", choice);
  }

  /** Makes words and figures follow; returns the language. */
  settle(): Language {
    speak(this.shown);
    document.documentElement.lang = this.shown;
    return this.shown;
  }
}

export const language = new Languages();
