import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import PromptWindow from "./PromptWindow.svelte";
import { examples } from "./examples";
import { visible } from "../lib/plain";
import { partsOf, type Answer, type Prompt } from "./prompt";

function ask(name: string, more: { patience?: number; inert?: number } = {}) {
  const answers: Answer[] = [];
  render(PromptWindow, { prompt: examples[name]!, answer: (answer: Answer) => void answers.push(answer), inert: 0, ...more });
  return answers;
}

test("Enter never allows: the refusing button has the focus, and another one does not hear it", async () => {
  const answers = ask("confirm");
  expect(document.activeElement?.textContent).toBe("Do not allow");
  const allow = screen.getByRole("button", { name: "Allow once" });
  await new Promise((done) => setTimeout(done, 5));
  allow.focus();
  await userEvent.keyboard("{Enter}");
  expect(answers).toEqual([]);
  expect(screen.getByRole("alert").textContent).toContain("Press Space");
  screen.getByRole("button", { name: "Do not allow" }).focus();
  await userEvent.keyboard("{Enter}");
  expect(answers).toEqual([{ answer: "decline" }]);
});

test("for the first moment nothing is allowed", async () => {
  vi.useFakeTimers();
  const answers = ask("confirm", { inert: 800 });
  screen.getByRole("button", { name: "Allow once" }).click();
  expect(answers).toEqual([]);
  vi.advanceTimersByTime(801);
  screen.getByRole("button", { name: "Allow once" }).click();
  expect(answers).toEqual([{ answer: "allow", again: false }]);
});

test("nobody answers, then the answer is no", () => {
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  const answers = ask("confirm", { patience: 3_000 });
  vi.advanceTimersByTime(4_000);
  expect(answers).toEqual([{ answer: "decline" }]);
  vi.restoreAllMocks();
});

test("a form sends what was chosen, with its types", async () => {
  const answers = ask("form");
  await new Promise((done) => setTimeout(done, 5));
  await userEvent.click(screen.getByLabelText("Acme Public"));
  await userEvent.click(screen.getByRole("button", { name: "Send to notion" }));
  expect(answers).toEqual([{ answer: "send", values: { workspace: "public", title: "Release notes 2.4" } }]);
});

test("a form that asks for a secret is not drawn", () => {
  ask("secret");
  expect(screen.queryByRole("textbox")).toBeNull();
  expect(screen.getByText(/looks like a secret/)).toBeTruthy();
});

test("a credential is typed behind a mask, and only a button stores it", async () => {
  const answers = ask("credential");
  await new Promise((done) => setTimeout(done, 5));
  const field = screen.getByLabelText("NOTION_TOKEN") as HTMLInputElement;
  expect(field.type).toBe("password");
  const save = screen.getByRole("button", { name: "Save" });
  await userEvent.click(save);
  await userEvent.type(field, "s3cret{Enter}");
  expect(answers).toEqual([]);
  expect(document.documentElement.outerHTML).not.toContain("s3cret");
  await userEvent.click(save);
  expect(answers).toEqual([{ answer: "store", value: "s3cret" }]);
});

test("what hides or turns text is written out", () => {
  expect(visible("a\u202eb\u200bc\u0007\nd")).toBe("a\\u{202e}b\\u{200b}c\\u{7}\nd");
});

test("the host stands out in its address, wherever else its name stands", () => {
  expect(partsOf("https://xn--pple-43d.com/apple.com?x", "xn--pple-43d.com")).toEqual({ before: "https://", host: "xn--pple-43d.com", after: "/apple.com?x" });
  expect(partsOf("https://a.example:8443/", "a.example:8443").host).toBe("a.example:8443");
  expect(partsOf("https://other.example/", "evil.example").host).toBe("evil.example");
});

test("every kind of field is filled in by hand and goes out with its type", async () => {
  const answers = ask("kinds");
  await new Promise((done) => setTimeout(done, 5));
  await userEvent.click(screen.getByRole("button", { name: "Send to notion" }));
  expect(answers).toEqual([]);
  expect(screen.getByText("E-mail is required.")).toBeTruthy();
  await userEvent.type(screen.getByLabelText("E-mail"), "ada@example.com{Enter}");
  expect(answers).toEqual([]);
  const seats = screen.getByLabelText("Seats");
  await userEvent.clear(seats);
  await userEvent.type(seats, "7");
  await userEvent.selectOptions(screen.getByLabelText("Role"), "Owner");
  await userEvent.click(screen.getByLabelText("Operations"));
  await userEvent.click(screen.getByLabelText("Engineering"));
  await userEvent.click(screen.getByLabelText("Send the invitation at once"));
  await userEvent.click(screen.getByRole("button", { name: "Send to notion" }));
  expect(answers).toEqual([{ answer: "send", values: { mail: "ada@example.com", count: 7, role: "Owner", teams: ["ops"], mailNow: false } }]);
});

test("what the hub says is wrong is shown, and asked on", async () => {
  const answers: Answer[] = [];
  render(PromptWindow, {
    prompt: examples.yes!,
    inert: 0,
    answer: (answer: Answer) => {
      answers.push(answer);
      return Promise.resolve(answers.length === 1 ? "this yes came too soon" : undefined);
    },
  });
  await new Promise((done) => setTimeout(done, 5));
  await userEvent.click(screen.getByRole("button", { name: "Say yes" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This yes came too soon");
  await userEvent.click(screen.getByRole("button", { name: "Say yes" }));
  expect(answers).toHaveLength(2);
});

test.each(["yes", "form", "kinds", "secret", "page", "confirm", "long", "forged"])("%s: the refusing button has the focus, Enter is no yes, and nothing is said yes to at first", async (kind) => {
  const answers = ask(kind, { inert: 60_000 });
  expect((document.activeElement as HTMLElement).dataset.no).toBeDefined();
  for (const button of screen.getAllByRole("button").filter((button) => button.getAttribute("aria-disabled") === "true")) {
    button.focus();
    await userEvent.keyboard("{Enter}");
    button.click();
  }
  expect(answers).toEqual([]);
  await userEvent.keyboard("{Escape}");
  expect(answers).toEqual([{ answer: "decline" }]);
});

test.each(["yes", "form", "kinds", "secret", "page"])("%s: whose question it is stands in our words, whatever it says itself", (kind) => {
  const prompt = { ...examples[kind]!, server: "linear", message: "Satchel: GitHub asks you to allow everything" } as Prompt;
  render(PromptWindow, { prompt, answer: () => {} });
  expect(screen.getByRole("heading").textContent).toContain("linear");
  expect(screen.getByText("linear writes:")).toBeTruthy();
  expect(screen.getByText("Satchel: GitHub asks you to allow everything").closest("blockquote")).not.toBeNull();
});
