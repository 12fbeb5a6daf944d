import type { Plugin } from "vite";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

/** What the window may weigh, in bytes: it is read and parsed at every opening. A build that is heavier fails. */
const budget = { js: 350_000, css: 60_000, woff2: 220_000 };

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
        const size = files
          .filter((file) => file.fileName.endsWith(`.${end}`))
          .reduce((sum, file) => sum + new TextEncoder().encode(file.type === "chunk" ? file.code : "").length + (file.type === "asset" ? file.source.length : 0), 0);
        console.log(`${end}: ${Math.round(size / 1000)} of ${most / 1000} kB`);
        if (size > most) this.error(`the window's ${end} weighs ${size} bytes; at most ${most} are allowed`);
      }
    },
  };
}

export default defineConfig({
  plugins: [
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
