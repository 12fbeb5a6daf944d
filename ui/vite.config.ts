import type { Plugin } from "vite";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

/** What the window may weigh, in bytes: it is read and parsed at every opening. A build that is heavier fails. Of the
 *  languages only one is read; the longest counts. */
const budget = { js: 400_000, css: 60_000, woff2: 220_000 };

function withinBudget(): Plugin {
  let released = true;
  return {
    name: "within-budget",
    apply: "build",
    configResolved: ({ mode }) => void (released = mode === "production"),
    generateBundle(_, bundle) {
      if (!released) return;
      const files = Object.values(bundle);
      for (const [end, most] of Object.entries(budget)) {
        const weigh = (file: (typeof files)[number]) => (file.type === "chunk" ? new TextEncoder().encode(file.code).length : file.source.length);
        const isLanguage = (file: (typeof files)[number]) => file.type === "chunk" && /\/words\/\w\w\.ts$/.test(file.facadeModuleId ?? "");
        const weights = files.filter((file) => file.fileName.endsWith(`.${end}`) && !isLanguage(file)).map(weigh);
        const words = end === "js" ? Math.max(...files.filter(isLanguage).map(weigh)) : 0;
        const size = weights.reduce((sum, weight) => sum + weight, words);
        console.log(`${end}: ${Math.round(size / 1000)} of ${most / 1000} kB`);
        if (size > most) this.error(`the window's ${end} weighs ${size} bytes; at most ${most} are allowed`);
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
    // The window's policy allows no data: addresses, so nothing is inlined into one.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  test: {
    environment: "jsdom",
    // Else style sheets are empty, and contrast.test.ts reads one.
    css: true,
    include: ["src/**/*.test.ts"],
    testTimeout: 60_000,
    setupFiles: ["src/testing.ts"],
  },
});
