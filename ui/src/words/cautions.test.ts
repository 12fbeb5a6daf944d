// Cautions in German, which are read a moment after the window has opened.
import { render, screen } from "@testing-library/svelte";
import { expect, test } from "vitest";

import Problem from "../ui/Problem.svelte";
import { speak } from ".";

/** As it is at the opening, whatever other tests have read. */
const fresh = "./de?fresh";

test("a caution that was drawn before its German words were read is drawn again in German", async () => {
  const { de } = (await import(/* @vite-ignore */ fresh)) as typeof import("./de");
  speak("de", de);
  const why = [{ code: "has_credentials" as const, parts: [], text: "credentials are in its address" }];
  render(Problem, { refusal: { code: "bad_description", message: "", action: "", why }, again: () => {} });
  expect(screen.getByText("Credentials are in its address")).toBeTruthy();
  await de.rest();
  expect(await screen.findByText("In seiner Adresse stehen Zugangsdaten")).toBeTruthy();
  speak("en");
});
