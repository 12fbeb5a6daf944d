// Draws every screen and state in both themes into a directory: `node shots/shots.mjs DIR [NAME…]`.
import { mkdir, writeFile } from "node:fs/promises";
import { end } from "./driver.mjs";
import { open } from "./open.mjs";
import { screens } from "./screens.mjs";

const [directory = "shots/out", ...names] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
const { page, show, close } = await open();
let count = 0;
for (const screen of screens.filter(({ name }) => names.length === 0 || names.some((wanted) => name.startsWith(wanted)))) {
  for (const theme of ["light", "dark"]) {
    await show(screen, theme);
    await writeFile(`${directory}/${screen.name}-${theme}.png`, await page.picture());
    count++;
  }
}
await close();
end();
console.log(`${count} pictures in ${directory}`);
process.exit(0);
