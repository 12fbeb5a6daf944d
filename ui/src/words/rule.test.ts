// The rule behind a question or a call, in the language of the window, also of records of earlier versions.
import { expect, test } from "vitest";
import { de } from "./de";
import { en } from "./en";

test.each([
  [{ rule: "tools that delete: ask first", usual: { tools: "deletes", permit: "ask" } }, "Tools that delete: ask first", "Werkzeuge, die löschen: erst fragen"],
  [{ rule: "what reads is allowed; allowed once", usual: { tools: "reads", permit: "allow" }, consent: "once" }, "Tools that read: allowed; allowed once", "Werkzeuge, die lesen: erlaubt; einmal erlaubt"],
  [{ rule: "every tool of a server that is on", usual: { tools: "every", permit: "allow" } }, "Every tool of a server that is on", "Jedes Werkzeug eines Servers, der an ist"],
  [{ rule: "git:*: ask; allowed from now on", consent: "always" }, "git:*: ask; allowed from now on", "git:*: ask; von nun an erlaubt"],
  [{ rule: "git:push: off" }, "git:push: off", "git:push: off"],
] as const)("%j", (ruled, english, german) => {
  expect(en.rule(ruled)).toBe(english);
  expect(de.rule(ruled)).toBe(german);
});
