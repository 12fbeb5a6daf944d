// Which theme is chosen, and which one shows. public/theme.js does the same once before the first paint.

export type Choice = "system" | "light" | "dark";
export const choices: readonly Choice[] = ["system", "light", "dark"];

export class Theme {
  #system = matchMedia("(prefers-color-scheme: dark)");
  #systemIsDark = $state(this.#system.matches);
  choice = $state<Choice>(choices.find((one) => one === localStorage.getItem("theme")) ?? "system");
  shown = $derived(this.choice === "system" ? (this.#systemIsDark ? "dark" : "light") : this.choice);

  constructor() {
    this.#system.addEventListener("change", (event) => (this.#systemIsDark = event.matches));
    $effect(() => {
      document.documentElement.dataset.theme = this.shown;
    });
  }

  choose(choice: Choice): void {
    this.choice = choice;
    localStorage.setItem("theme", choice);
  }
}
