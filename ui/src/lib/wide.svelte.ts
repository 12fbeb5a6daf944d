// Is there room for a list and a pane beside each other? Then the first of the list is shown until another is chosen.

export class Wide {
  matches = $state(false);

  constructor() {
    const query = matchMedia("(min-width: 801px)");
    this.matches = query.matches;
    $effect(() => {
      const heard = () => (this.matches = query.matches);
      query.addEventListener("change", heard);
      return () => query.removeEventListener?.("change", heard);
    });
  }
}
