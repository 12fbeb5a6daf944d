// How messages become sentences.
import { describe, expect, test } from "vitest";

import { capital } from "./refusal";

describe("a sentence begins with a capital", () => {
  test.each([
    ["the file cannot be read", "The file cannot be read"],
    ["über diese Adresse antwortet nichts", "Über diese Adresse antwortet nichts"],
    ["refused: no", "Refused: no"],
    ["can't be read", "Can't be read"],
    ["gone", "Gone"],
    ["a", "A"],
    ["", ""],
  ])("%s", (message, expected) => expect(capital(message)).toBe(expected));

  test.each(["odd:delete_all was not called: a rule says so", "delete_all is left out", "api.example.com answered HTTP 500", "npmRun failed", "x2 failed", "auth/token failed", "e-mail@example.com failed", '"odd" cannot start'])(
    "but for a name: %s",
    (message) => expect(capital(message)).toBe(message),
  );
});
