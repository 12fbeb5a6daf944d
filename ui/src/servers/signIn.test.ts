// Signing in to hosted servers as a person meets it, over an invented hub.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import App from "../App.svelte";
import type { Answer, Request, ServerState, SignInState, SignInView } from "../lib/hub/generated";
import { fakeHub, open as serve, server, snapshot, type Telling } from "../lib/hub/fake";

const needs: ServerState = { state: "needs_sign_in", message: "" };
const asleep: ServerState = { state: "asleep" };
const view = (stands: SignInState, more: Partial<SignInView> = {}): SignInView => ({ account: null, provider: "linear.app", scopes: [], since_ms: Date.now() - 120_000, ...more, ...stands });
const signedIn = view({ sign_in: "signed_in", ends_ms: null, renews: true }, { account: "me@acme.dev", scopes: ["read", "issues:create"] });

async function open(state: ServerState, sign_in: SignInView, telling: Telling = {}, place = "#/servers/linear") {
  history.replaceState(null, "", place);
  const hub = fakeHub(serve(snapshot([server("linear", state, { place: "hosted", sign_in })])), telling);
  const user = userEvent.setup();
  const { container } = render(App, { hub });
  await screen.findAllByRole("switch", { name: "linear, available to clients" });
  const made = () => hub.requests.filter((request) => request.do.endsWith("sign_in") || request.do === "sign_out" || request.do === "enter_client");
  const pane = () => within(container.querySelector<HTMLElement>("section.pane")!);
  return { hub, user, made, pane };
}

describe("the row", () => {
  test("signs in at a click and leads to the pane, where it can be cancelled", async () => {
    const { user, made, pane } = await open(needs, view({ sign_in: "signed_out" }), {}, "#/servers");
    const button = await screen.findByRole("button", { name: "Sign in: linear" });
    expect(made()).toEqual([]);
    await user.click(button);
    expect(made()).toEqual([{ do: "begin_sign_in", server: "linear", again: false }]);
    expect(location.hash).toBe("#/servers/linear");
    expect(await screen.findByRole("heading", { name: "Finish in your browser" })).toBeTruthy();
    await user.click(pane().getByRole("button", { name: "Cancel" }));
    expect(made().at(-1)).toEqual({ do: "cancel_sign_in", server: "linear" });
    expect(await screen.findByRole("heading", { name: "linear needs a sign-in" })).toBeTruthy();
  });

  test("cancels at a click", async () => {
    const { user, made } = await open(asleep, view({ sign_in: "signing_in", until_ms: Date.now() + 60_000 }), {}, "#/servers");
    await user.click(await screen.findByRole("button", { name: "Cancel: linear" }));
    expect(made()).toEqual([{ do: "cancel_sign_in", server: "linear" }]);
  });

  test("leads to the form where a client ID is needed", async () => {
    const { user, made } = await open(needs, view({ sign_in: "needs_client_id", redirect: "http://127.0.0.1:4000/callback", page: null, hint: "" }), {}, "#/servers");
    await user.click(await screen.findByRole("link", { name: "Enter client ID: linear" }));
    expect(await screen.findByLabelText("Client ID")).toBeTruthy();
    expect(made()).toEqual([]);
  });
});

describe("the pane", () => {
  test("says why and since when one was signed out, and signs in again", async () => {
    const { user, made, pane } = await open(needs, view({ sign_in: "needs_sign_in", reason: "the provider answered invalid_grant" }, { account: "me@acme.dev", scopes: ["read"] }));
    expect(await screen.findByRole("heading", { name: "linear needs a sign-in" })).toBeTruthy();
    for (const text of ["The provider answered invalid_grant", "me@acme.dev", "linear.app", "read", /^2 min.* ago$/]) expect(pane().getByText(text)).toBeTruthy();
    await user.click(pane().getByRole("button", { name: "Sign in again" }));
    expect(made()).toEqual([{ do: "begin_sign_in", server: "linear", again: false }]);
  });

  test("while signing in it says where the page is, opens it again, and takes a pasted address", async () => {
    const { hub, user, made, pane } = await open(needs, view({ sign_in: "signing_in", until_ms: Date.now() + 200_000 }));
    expect(await screen.findByText(/^The page is at linear\.app\. Satchel waits for another 3:[12]\d\.$/)).toBeTruthy();
    const paste = pane().getByLabelText<HTMLInputElement>("Paste the address");
    expect(paste.closest("details")?.open).toBe(false);
    await user.click(pane().getByRole("button", { name: "Open the page again" }));
    expect(await screen.findByText(/^The page is at auth\.example\.com\./)).toBeTruthy();
    await user.click(pane().getByText("The browser is on another computer"));
    await user.click(pane().getByRole("button", { name: "Copy the address of the page" }));
    expect(hub.copied).toBe("https://auth.example.com/authorize?state=s");
    hub.refuseNext("paste_sign_in", { code: "bad_paste", message: "this is not the address", action: "Copy the whole address from the browser." });
    await user.type(paste, "junk{Enter}");
    expect((await screen.findByRole("alert")).textContent).toBe("This is not the address. Copy the whole address from the browser.");
    await user.type(paste, "http://127.0.0.1:4000/callback?code=c&state=s{Enter}");
    expect(made().at(-1)).toEqual({ do: "paste_sign_in", server: "linear", text: "http://127.0.0.1:4000/callback?code=c&state=s" });
    expect(await screen.findByText("Signed in")).toBeTruthy();
  });

  test("where no browser starts, it says so and offers the address", async () => {
    const { hub, user, pane } = await open(needs, view({ sign_in: "signed_out" }));
    const ask = hub.ask;
    const not_opened = { code: "not_opened", message: "the browser could not be started: none", action: "" };
    hub.ask = async <Asked extends Request>(request: Asked) => {
      const answer = await ask<Asked>(request);
      return (request.do === "begin_sign_in" ? { ...(answer as object), not_opened } : answer) as Answer<Asked>;
    };
    await user.click(pane().getByRole("button", { name: "Sign in" }));
    expect((await screen.findByRole("alert")).textContent).toBe("The browser could not be started: none. Copy the address below and open it in a browser.");
    expect(pane().getByRole("button", { name: "Copy the address of the page" }).closest("details")?.open).toBe(true);
  });

  test("what the hub refuses is read there", async () => {
    const { hub, user, pane } = await open(needs, view({ sign_in: "signed_out" }));
    hub.refuseNext("begin_sign_in", { code: "oauth_refused", message: "its metadata names another server", action: "Read the reason." });
    await user.click(pane().getByRole("button", { name: "Sign in" }));
    expect((await screen.findByRole("alert")).textContent).toBe("Its metadata names another server. Read the reason.");
  });

  test("a tool that wants more names it, and it is allowed in the browser", async () => {
    const { user, made, pane } = await open(asleep, view({ sign_in: "needs_more_rights", missing: ["files:write"], wanted_by: "write_file" }, { scopes: ["files:read"] }));
    expect(await screen.findByRole("heading", { name: "write_file needs more rights" })).toBeTruthy();
    expect(pane().getByText("files:write")).toBeTruthy();
    await user.click(pane().getByRole("button", { name: "Allow" }));
    expect(made()).toEqual([{ do: "begin_sign_in", server: "linear", again: false }]);
  });

  test("an account is told quietly and can be left", async () => {
    const { user, made, pane } = await open(asleep, signedIn);
    expect(await screen.findByText("me@acme.dev")).toBeTruthy();
    for (const text of ["Signed in as", "linear.app", "read issues:create", "Without asking you"]) expect(pane().getByText(text)).toBeTruthy();
    await user.click(pane().getByRole("button", { name: "Sign out" }));
    expect(made()).toEqual([{ do: "sign_out", server: "linear", keep_registration: false }]);
    expect(await screen.findByRole("heading", { name: "linear needs a sign-in" })).toBeTruthy();
    expect(screen.queryByText(/could not be told/)).toBeNull();
  });

  test("where the provider could not be told of it, that is said", async () => {
    const { user, pane } = await open(asleep, signedIn, { revoked: false });
    await user.click(pane().getByRole("button", { name: "Sign out" }));
    expect((await screen.findByText("Signed out here. The provider could not be notified.")).getAttribute("role")).toBe("status");
  });

  test("a renewal that is late needs nobody", async () => {
    const { pane } = await open(asleep, view({ sign_in: "renewal_delayed", reason: "the provider answered 503", retry_at_ms: Date.now() + 60_000 }));
    expect(await screen.findByText("the provider answered 503")).toBeTruthy();
    expect(pane().getByText(/^Delayed, next try at \d\d:\d\d/)).toBeTruthy();
    expect(screen.queryByText(/needs a sign-in/)).toBeNull();
  });

  test("what is signed in to is signed out of when it is removed", async () => {
    const { user } = await open(asleep, signedIn);
    await user.click(await screen.findByRole("button", { name: "More actions for linear" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove…" }));
    expect((await screen.findByRole("dialog")).textContent).toContain("You will also be signed out of it.");
  });
});

describe("a client ID", () => {
  const form = view({ sign_in: "needs_client_id", redirect: "http://127.0.0.1:4000/callback", page: "https://github.com/settings/applications/new", hint: "Create an OAuth app." }, { provider: "github.com" });

  test("is entered with its secret, which is not kept, and signing in goes on", async () => {
    const { hub, user, made, pane } = await open(needs, form);
    expect(await screen.findByText("github.com does not register apps automatically. Register one there with this redirect address.")).toBeTruthy();
    expect(pane().getByText("Create an OAuth app.")).toBeTruthy();
    await user.click(pane().getByRole("button", { name: "Copy the redirect address" }));
    expect(hub.copied).toBe("http://127.0.0.1:4000/callback");
    await user.click(pane().getByRole("button", { name: "Copy the address where to register" }));
    expect(hub.copied).toBe("https://github.com/settings/applications/new");
    const secret = pane().getByLabelText<HTMLInputElement>("Client secret, where it gives one");
    expect(secret.type).toBe("password");
    await user.type(pane().getByLabelText("Client ID"), " Iv1.abc ");
    await user.type(secret, "s3cret");
    hub.refuseNext("enter_client", { code: "keychain_locked", message: "the keychain is locked", action: "" });
    await user.click(pane().getByRole("button", { name: "Save and sign in" }));
    expect((await screen.findByRole("alert")).textContent).toBe("The keyring is locked, or nothing can be stored in it.");
    expect(secret.value).toBe("");
    await user.type(secret, "s3cret{Enter}");
    await waitFor(() => expect(made().slice(1)).toEqual([
      { do: "enter_client", server: "linear", client_id: "Iv1.abc", client_secret: "s3cret" },
      { do: "begin_sign_in", server: "linear", again: false },
    ]));
  });

  test("needs no secret", async () => {
    const { user, made, pane } = await open(needs, form);
    expect(pane().getByRole<HTMLButtonElement>("button", { name: "Save and sign in" }).disabled).toBe(true);
    await user.type(pane().getByLabelText("Client ID"), "app{Enter}");
    await waitFor(() => expect(made()[0]).toEqual({ do: "enter_client", server: "linear", client_id: "app", client_secret: null }));
  });

  test("is asked for where signing in finds that one is needed", async () => {
    const { hub, user, pane } = await open(needs, view({ sign_in: "signed_out" }));
    hub.refuseNext("begin_sign_in", { code: "needs_client_id", message: "a client ID has to be entered", action: "Register an app." });
    await user.click(pane().getByRole("button", { name: "Sign in" }));
    hub.change("linear", { sign_in: form });
    expect(await screen.findByLabelText("Client ID")).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

test("what was added and wants a sign-in is one click from it", async () => {
  const { user, made, pane } = await open(asleep, signedIn, { closed: ["notion"] }, "#/servers");
  await user.click(screen.getByRole("button", { name: /^Add/ }));
  await user.type(await screen.findByLabelText("Command, URL or mcpServers block"), "https://mcp.notion.com/mcp");
  await user.click(await screen.findByRole("button", { name: "Add server" }));
  expect(await screen.findByRole("heading", { name: "notion needs a sign-in" })).toBeTruthy();
  await user.click(pane().getByRole("button", { name: "Sign in" }));
  expect(made()).toEqual([{ do: "begin_sign_in", server: "notion", again: false }]);
});

test("the first minute leads to a sign-in, too", async () => {
  history.replaceState(null, "", "#/welcome/2");
  const servers = [
    server("linear", needs, { place: "hosted", sign_in: view({ sign_in: "signed_out" }) }),
    server("github", needs, { place: "hosted", sign_in: view({ sign_in: "needs_client_id", redirect: "", page: null, hint: "" }) }),
  ];
  const hub = fakeHub(serve(snapshot(servers)));
  const user = userEvent.setup();
  render(App, { hub });
  await user.click(await screen.findByRole("button", { name: "Sign in: linear" }));
  expect(hub.requests).toContainEqual({ do: "begin_sign_in", server: "linear", again: false });
  expect(await screen.findByRole("button", { name: "Cancel: linear" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Enter client ID: github" }));
  expect(await screen.findByLabelText("Client ID")).toBeTruthy();
});

test("what the catalog adds without a key is one click from its sign-in", async () => {
  history.replaceState(null, "", "#/catalog/linear");
  const hub = fakeHub(serve(snapshot([])), { closed: ["linear"] });
  const user = userEvent.setup();
  render(App, { hub });
  expect(await screen.findByText("Goes to your keyring, not into a file. Leave it empty to sign in with your browser")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Add Linear" }));
  expect(await screen.findByRole("heading", { name: "linear needs a sign-in" })).toBeTruthy();
  expect(hub.requests).toContainEqual({ do: "install_listed", name: "linear", server: null, version: null, way: null, answers: {}, seen: "1" });
});

test("the first minute proposes no server that wants a sign-in", async () => {
  history.replaceState(null, "", "#/welcome/3");
  const hub = fakeHub(serve(snapshot([server("asana", needs, { place: "hosted", sign_in: view({ sign_in: "signed_out" }) }), server("fetch", asleep)])));
  render(App, { hub });
  expect(await screen.findByText("Use Satchel to find out what fetch can do, and try it.")).toBeTruthy();
});
