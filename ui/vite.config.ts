import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    svelte({
      // Libraries may still be written in the older style; ours may not (svelte.config.js).
      dynamicCompileOptions: ({ filename }) => (filename.includes("node_modules") ? { runes: undefined } : undefined),
    }),
    svelteTesting(),
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
    setupFiles: ["src/testing.ts"],
  },
});
