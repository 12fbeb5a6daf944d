// Where credentials are kept: a keyring that answers is no reason to hide the other place.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import { fakeHub, open as serve, snapshot } from "../lib/hub/fake";
import { sentences } from "../lib/refusal";
import { en } from "../words/en";

test("an encrypted file is offered beside a keyring that can be read", async () => {
  history.replaceState(null, "", "#/settings/credentials");
  const hub = fakeHub(serve(snapshot([])));
  render(App, { hub });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Use an encrypted file instead" }));
  await user.type(screen.getByLabelText("Passphrase"), "correct horse");
  await user.click(screen.getByRole("button", { name: "Use an encrypted file" }));
  await waitFor(() => expect(hub.requests).toContainEqual({ do: "use_vault", passphrase: "correct horse" }));
});

test("what the hub calls a keychain is a keyring in the window, and no command of the terminal helps there", () => {
  const message = "the keychain is locked (SS error: result not returned from SS API)";
  const action = "Unlock the keychain, then try again, or choose an encrypted file with `satchel secrets use-file`.";
  const said = sentences({ code: "keychain_locked", message, action });
  expect(said).toBe("The keyring is locked, or nothing can be stored in it. Unlock the keyring, then try again, or choose an encrypted file in Settings.");
  const found = { about: "secrets", subject: "secrets", verdict: "note", message, action, code: "secrets_unusable", trouble: "keychain_locked", why: message } as const;
  expect(en.settings.doctor.found(found)).not.toContain("keychain");
});
