import type { Plugin } from "vite";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

/** What the window may weigh, in bytes: `opening` is read and parsed at every opening, `later` what is read when it is first wanted: Savings, Settings, Skills, the first minute, one call, a tool or a script that is tried, the page of a server, profiles, adding a server, entries of the catalog and of a registry, reasons in another language. A build
 *  that is heavier fails. Of the languages only one is read; the longest counts. */
const budget = {
  opening: { js: 404_000, css: 60_000, woff2: 220_000 },
  later: { js: 276_000, css: 40_000, woff2: 0 },
};
/** Where what is read later begins. */
const later = /\/words\/refusals\.ts$|\/(frame\/Shortcuts|clients\/SetupSheet|tools\/(ToolPage|TryScript|Try)|servers\/(LogTab|SetupTab|OfferedTab|add\/AddSheet)|profiles\/ProfilesSheet|catalog\/(CatalogPane|Registry(Pane|List))|activity\/CallPane|savings\/SavingsScreen|skills\/SkillsScreen|settings\/SettingsScreen|welcome\/WelcomeScreen)\.svelte$/;

type Output = Parameters<Extract<NonNullable<Plugin["generateBundle"]>, (...given: never) => unknown>>[1];
type Chunk = Extract<Output[string], { type: "chunk" }>;

/** The chunks that are reached from the page without asking for what comes later, and the names of their styles. */
function opening(bundle: Output): Set<string> {
  const found = new Set<string>();
  const reach = (name: string) => {
    const file = bundle[name];
    if (found.has(name) || file?.type !== "chunk" || file.moduleIds.some((id) => later.test(id))) return;
    found.add(name);
    for (const style of file.viteMetadata?.importedCss ?? []) found.add(style);
    [...file.imports, ...file.dynamicImports].forEach(reach);
  };
  for (const file of Object.values(bundle)) if (file.type === "chunk" && file.isEntry) reach(file.fileName);
  return found;
}

function withinBudget(): Plugin {
  let released = true;
  return {
    name: "within-budget",
    apply: "build",
    configResolved: ({ mode }) => void (released = mode === "production"),
    generateBundle(_, bundle: Output) {
      if (!released) return;
      const first = opening(bundle);
      const files = Object.values(bundle);
      const weigh = (file: Output[string]) => (file.type === "chunk" ? new TextEncoder().encode(file.code).length : file.source.length);
      const isLanguage = (file: Output[string]): file is Chunk => file.type === "chunk" && /\/words\/\w\w\.ts$/.test(file.facadeModuleId ?? "");
      const isLater = (file: Output[string]) => /\.(js|css)$/.test(file.fileName) && !first.has(file.fileName);
      for (const [when, ends] of Object.entries(budget))
        for (const [end, most] of Object.entries(ends)) {
          const weights = files.filter((file) => file.fileName.endsWith(`.${end}`) && !isLanguage(file) && isLater(file) === (when === "later")).map(weigh);
          const words = end === "js" && when === "opening" ? Math.max(...files.filter(isLanguage).map(weigh)) : 0;
          const size = weights.reduce((sum, weight) => sum + weight, words);
          console.log(`${end}, ${when}: ${Math.round(size / 1000)} of ${most / 1000} kB`);
          if (size > most) this.error(`the window's ${end} (${when}) weighs ${size} bytes; at most ${most} are allowed`);
        }
    },
  };
}

/** Of what the palette's parts bring along, this is not read: a parser for inline styles that nothing here has (they read
 *  plain ones themselves), and what every engine we open a window in can do by itself. */
const unread: [RegExp, string][] = [
  [/\/style-to-object\/.*\.m?js$/, "export default () => null;"],
  [/\/bits-ui\/dist\/internal\/css-escape\.js$/, "export const cssEscape = (text) => CSS.escape(text);"],
];

function withoutUnread(): Plugin {
  return { name: "without-unread", apply: "build", load: (id) => unread.find(([file]) => file.test(id))?.[1] ?? null };
}

export default defineConfig({
  plugins: [
    withoutUnread(),
    svelte({
      // Libraries may still be written in the older style; ours may not (svelte.config.js).
      dynamicCompileOptions: ({ filename }) => (filename.includes("node_modules") ? { runes: undefined } : undefined),
    }),
    svelteTesting(),
    withinBudget(),
  ],
  clearScreen: false,
  server: { fs: { allow: [".."] } },
  build: {
    // The oldest engines we open a window in: WebKitGTK 2.42, macOS 13.
    target: ["safari16.4", "es2022"],
    // The window's policy allows data: addresses for what tools answer alone; fonts and styles would not load from one.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  test: {
    environment: "jsdom",
    // One page for all files of a worker: a new one for each took two thirds of the time. Tests clean up after themselves.
    isolate: false,
    // jsdom works out styles slowly; only contrast.test.ts reads a style sheet.
    css: { include: [/tokens\.css/] },
    include: ["src/**/*.test.ts"],
    testTimeout: 180_000,
    setupFiles: ["src/testing.ts"],
  },
});
