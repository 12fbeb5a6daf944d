// Sets the theme before the first paint, so that a dark window never flashes white.
// A file of its own because the window's policy allows no inline scripts. lib/theme.svelte.ts does the rest.
(() => {
  const chosen = localStorage.getItem("theme");
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
