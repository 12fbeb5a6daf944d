// The built window over an invented hub, served for a browser.
import { preview } from "vite";
import { browser } from "./driver.mjs";

export const usual = [1240, 800];

export async function open() {
  const server = await preview({ configFile: false, root: new URL("..", import.meta.url).pathname, build: { outDir: "dist-fake" }, preview: { port: 0, host: "127.0.0.1" }, logLevel: "warn" });
  const { port } = server.httpServer.address();
  const page = await browser(...usual);
  await page.go(`http://127.0.0.1:${port}/theme.js`);
  /** Shows a screen in a theme, still and whole. */
  const show = async ({ scene = "usual", place, act, size = usual, language = "en", dir = "ltr", long = false }, theme) => {
    await page.size(...size);
    await page.run("localStorage.clear(); localStorage.setItem('theme', arguments[0]); localStorage.setItem('language', arguments[1])", theme, language);
    await page.go(`http://127.0.0.1:${port}/?scene=${scene}&dir=${dir}${long ? "&long" : ""}&at=${Math.random()}#${place}`);
    await page.later("const done = arguments[0]; const look = () => (document.querySelector('#window')?.childElementCount ? done() : setTimeout(look, 20)); look()");
    await page.run(`
      const still = document.createElement("style");
      still.textContent = "*,*::before,*::after{animation:none!important;transition:none!important;caret-color:transparent!important}";
      document.head.append(still);`);
    await page.drawn();
    // What is read later is waited for.
    if (/\/tools\/./.test(place)) await page.later("const done = arguments[0]; const look = () => (document.querySelector('[data-run]') ? done() : setTimeout(look, 20)); look()");
    // What it presses may be drawn a moment later than the rest.
    if (act) {
      await page.later(`
        const done = arguments[0], until = Date.now() + 5000;
        const act = () => { ${act} };
        const attempt = () => { try { act(); done(); } catch (error) { if (Date.now() > until) throw error; setTimeout(attempt, 50); } };
        attempt()`);
    }
    await page.later("const done = arguments[0]; setTimeout(done, 180)");
    await page.drawn();
  };
  return { page, show, close: async () => { await page.close().catch(() => {}); await server.close(); } };
}
