// What a person reads before a server is added is what will run, however it is written. (S11)
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { fireEvent } from "@testing-library/dom";
import { expect, test } from "vitest";

import App from "../../App.svelte";
import { fakeHub, open as serve, snapshot } from "../../lib/hub/fake";
import { commandLine, lookalikes, oneLine } from "../../lib/plain";

/** Signs that hide, turn, break or imitate. */
const signs = ["\u202e", "\u2066", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u0000", "\u001b[2K", "\u0007", "\b", "\n", "\r\n", "\t", "\u2028", "\u0085", "\u3164", "\u00a0", "\u{e0041}", "\ufe0f", "\u{e000}", "<b>", "&lt;", "%E2%80%AE", "'", '"', "`", "$(x)", "\\u{202e}", "\u180e"];
const places: ((sign: string) => string[])[] = [
  (sign) => [`-y${sign}`, "pkg"],
  (sign) => [`${sign}--allow-all`],
  (sign) => ["pkg", `a${sign}b`.padEnd(4096, "x")],
  (sign) => ["--name", sign, "--rm"],
  (sign) => [`${" ".repeat(500)}${sign}; rm -rf ~`],
];
const inputs = signs.flatMap((sign) => places.map((place) => place(sign)));

const hidden = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029\u3164\u00a0\ufe0f\u{e0041}]/u;
/** The arguments again, as someone would who read the line. */
function readAgain(line: string): string {
  return line.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16))).replaceAll("\\n", "\n").replaceAll("\\t", "\t");
}

test("a hundred and fifty ways to say something else are all there to be read", () => {
  expect(inputs.length).toBe(150);
  for (const args of inputs) {
    const shown = commandLine("npx", args);
    expect(hidden.test(shown), JSON.stringify(args)).toBe(false);
    for (const arg of args) {
      expect(shown.includes(oneLine(arg).replaceAll("'", "'\\''")), JSON.stringify(arg)).toBe(true);
      // What is escaped already must not be taken for something else than it is.
      if (!arg.includes("\\u{")) expect(readAgain(oneLine(arg))).toBe(arg);
    }
  }
});

test("the sheet shows exactly that: its beginning and its end at once, the rest by a press, and nothing is chosen beforehand", async () => {
  history.replaceState(null, "", "#/servers");
  const user = userEvent.setup();
  for (const args of inputs.filter((_, at) => at % 7 === 0)) {
    const text = JSON.stringify({ mcpServers: { it: { command: "npx", args } } });
    const { unmount } = render(App, { hub: fakeHub(serve(snapshot([]))) });
    await screen.findByText(/Nothing in the satchel yet/);
    await fireEvent.keyDown(window, { key: "n", ctrlKey: true });
    await fireEvent.input(await screen.findByRole("textbox", { name: /Command, URL/ }), { target: { value: text } });
    await waitFor(() => expect(document.querySelector(".runs")).not.toBeNull());
    const shown = () => document.querySelector(".runs")!.textContent;
    const line = commandLine("npx", args);
    expect(shown().endsWith(line.slice(-8)), JSON.stringify(args)).toBe(true);
    for (let press = document.querySelector<HTMLElement>(".between"); press; press = document.querySelector<HTMLElement>(".between")) await user.click(press);
    expect(shown().replace(/(\d[\d,]*) spaces/g, (_, many: string) => " ".repeat(Number(many.replace(",", "")))), JSON.stringify(args)).toBe(line);
    expect((document.activeElement as HTMLElement | null)?.hasAttribute("data-yes")).toBe(false);
    unmount();
  }
});

test("letters that pass for others are named", () => {
  expect(lookalikes("n\u0440x -y p\u0430ckage")).toEqual(["\u0440 \\u{440}", "\u0430 \\u{430}"]);
  expect(lookalikes("https://example.com\u2215evil")).toHaveLength(1);
  expect(lookalikes("npx -y @scope/pkg --path /home/jörg/Müll")).toEqual([]);
});
