// A browser for pictures and for axe: WebKit's own driver on a display of its own. Speaks WebDriver with fetch.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const children = [];
/** Ends whatever was started. */
export const end = () => children.splice(0).forEach((child) => child.kill("SIGKILL"));
process.on("exit", end);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

function start(program, args, env = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ...env } });
  child.on("error", (error) => {
    console.error(`cannot start ${program}: ${error.message}`);
    process.exit(1);
  });
  children.push(child);
  return child;
}
async function firstLine(child) {
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return line.trim();
}
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Opens a browser window of this size. */
export async function browser(width, height) {
  const display = await firstLine(start("Xvfb", ["-displayfd", "1", "-screen", "0", "2600x1600x24", "-nolisten", "tcp"]));
  const port = await freePort();
  const env = { DISPLAY: `:${display}`, GDK_BACKEND: "x11", NO_AT_BRIDGE: "1", WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1" };
  start("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], env);
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body === undefined ? undefined : JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  for (let tries = 0; ; tries++) {
    try {
      await call("GET", "/status");
      break;
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  const { sessionId } = await call("POST", "/session", { capabilities: { alwaysMatch: {} } });
  const at = (path) => `/session/${sessionId}${path}`;
  const post = (path, body = {}) => call("POST", at(path), body);
  await post("/timeouts", { script: 60_000, pageLoad: 60_000 });
  const run = (script, ...args) => post("/execute/sync", { script, args });
  const later = (script, ...args) => post("/execute/async", { script, args });
  const size = async (w, h) => {
    await post("/window/rect", { x: 0, y: 0, width: w, height: h });
    const [inner, tall] = await run("return [innerWidth, innerHeight]");
    // The window has a frame and a bar; what counts is the page.
    await post("/window/rect", { width: 2 * w - inner, height: 2 * h - tall });
  };
  await size(width, height);
  return {
    run,
    later,
    size,
    go: (url) => post("/url", { url }),
    /** Waits until the page has drawn what it was told. */
    drawn: () => later("const done = arguments[0]; document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))"),
    keys: (text) => post("/actions", { actions: [{ type: "key", id: "keys", actions: [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) }] }),
    picture: async () => Buffer.from(await call("GET", at("/screenshot")), "base64"),
    close: () => call("DELETE", at("")),
  };
}
