import { expect, test } from "vitest";
import type { ServerState, SignInState, SignInView } from "../lib/hub/generated";
import { shortTime, time } from "../lib/fmt";
import { server } from "../lib/hub/fake";
import { groupOf } from "./groups";
import { sentence } from "./sentence";

const now = 1_000_000;
const cases: [ServerState, string, string, string | undefined][] = [
  [{ state: "off" }, "Off · hidden from clients", "Off · hidden from clients", undefined],
  [{ state: "asleep" }, "Asleep · wakes in about 900 ms", "Asleep · wakes in about 900 ms", undefined],
  [{ state: "starting", since_ms: now - 6_400, phase: "starting" }, "Starting · 6 s", "Starting", undefined],
  [{ state: "starting", since_ms: now - 72_400, phase: "downloading" }, `Downloading · ${time(72_000)}`, "Downloading", undefined],
  [{ state: "needs_credential", names: [], variables: [], code: "http_401", message: "it answered HTTP 401" }, "Needs a sign-in or a credential", "Needs a sign-in or a credential", "See why"],
  [{ state: "ready", in_flight: 0, sleeps_at_ms: now + 134_000 }, "Running · sleeps in about 2 min", "Running", undefined],
  [{ state: "ready", in_flight: 0, sleeps_at_ms: null }, "Running", "Running", undefined],
  [{ state: "ready", in_flight: 1, sleeps_at_ms: null }, "Running · 1 call", "Running · 1 call", undefined],
  [{ state: "ready", in_flight: 3, sleeps_at_ms: null }, "Running · 3 calls", "Running · 3 calls", undefined],
  [{ state: "stopping" }, "Stopping", "Stopping", undefined],
  [
    { state: "backing_off", code: "spawn_not_found", message: "", retry_at_ms: now + 20_000, failures: 1 },
    "Did not start · trying again in 0:20",
    "Did not start",
    "See why",
  ],
  [
    { state: "backing_off", code: "crashed", message: "", retry_at_ms: now + 20_000, failures: 1 },
    "It exited unexpectedly · trying again in 0:20",
    "It exited unexpectedly",
    "See why",
  ],
  [
    { state: "backing_off", code: "unreachable", message: "", retry_at_ms: now - 1, failures: 1 },
    "Does not answer · trying again",
    "Does not answer",
    "See why",
  ],
  [
    { state: "broken", code: "crashed", message: "", retry_at_ms: now, failures: 3 },
    "Paused after 3 failed starts",
    "Paused after 3 failed starts",
    "See why",
  ],
  [{ state: "needs_credential", names: ["DATABASE_URL"], variables: [], code: "vault_locked", message: "it is locked" }, "Its credentials are locked", "Its credentials are locked", "See why"],
  [{ state: "needs_credential", names: ["DATABASE_URL"], variables: [], code: "needs_credential", message: "" }, "Needs DATABASE_URL", "Needs DATABASE_URL", "Add credential"],
  [{ state: "needs_credential", names: ["x.Authorization"], variables: [], code: "needs_credential", message: "" }, "Needs Authorization", "Needs Authorization", "Add credential"],
  [{ state: "needs_credential", names: ["A", "B"], variables: [], code: "needs_credential", message: "" }, "Needs 2 credentials", "Needs 2 credentials", "Add credential"],
  [{ state: "invalid", message: "line 2" }, "Its configuration entry is invalid", "Its configuration entry is invalid", "See why"],
];

test.each(cases)("%o", (state, text, spoken, action) => {
  const said = sentence(server("x", state), now);
  expect([said.text, said.spoken, said.action]).toEqual([text, spoken, action]);
});

const needs = { state: "needs_sign_in", message: "" } as const;
const asleep = { state: "asleep" } as const;
const signIns: [ServerState, SignInState, string, string | undefined, string | undefined, string][] = [
  [needs, { sign_in: "signed_out" }, "Needs a sign-in", "Sign in", "sign_in", "needs-you"],
  [needs, { sign_in: "needs_sign_in", reason: "it was revoked" }, "Needs a sign-in", "Sign in", "sign_in", "needs-you"],
  [needs, { sign_in: "signing_in", until_ms: now }, "Finish in your browser", "Cancel", "cancel_sign_in", "needs-you"],
  [asleep, { sign_in: "signing_in", until_ms: now }, "Finish in your browser", "Cancel", "cancel_sign_in", "needs-you"],
  [needs, { sign_in: "needs_client_id", redirect: "", page: null, hint: "" }, "Needs a client ID", "Enter client ID", undefined, "needs-you"],
  [asleep, { sign_in: "needs_more_rights", missing: ["write"], wanted_by: "t" }, "Needs more rights", "Allow", "sign_in", "needs-you"],
  [asleep, { sign_in: "signed_in", ends_ms: null, renews: true }, "Ready · connects when called", undefined, undefined, "asleep"],
  [asleep, { sign_in: "renewal_delayed", reason: "", retry_at_ms: now }, `Renewal delayed · next try at ${shortTime(new Date(now))}`, undefined, undefined, "asleep"],
  [{ state: "off" }, { sign_in: "signed_out" }, "Off · hidden from clients", undefined, undefined, "off"],
];

test.each(signIns)("%o, %o", (state, stands, text, action, does, group) => {
  const sign_in: SignInView = { account: null, provider: null, scopes: [], since_ms: 0, ...stands };
  const one = server("x", state, { place: "hosted", sign_in });
  const said = sentence(one, now);
  expect([said.text, said.action, said.does, groupOf(one)]).toEqual([text, action, does, group]);
});

test("what waits to be looked at signs in nowhere", () => {
  const sign_in: SignInView = { account: null, provider: null, scopes: [], since_ms: 0, sign_in: "signed_out" };
  const one = server("x", needs, { place: "hosted", sign_in, held: 1, not_started: "new_entry" });
  expect(sentence(one, now)).toMatchObject({ action: "Review" });
  expect(sentence(one, now).does).toBeUndefined();
});

test("a hosted server connects instead of running", () => {
  const hosted = { place: "hosted" } as const;
  expect(sentence(server("x", { state: "asleep" }, hosted), now).text).toBe("Ready · connects when called");
  expect(sentence(server("x", { state: "ready", in_flight: 0, sleeps_at_ms: null }, hosted), now).text).toBe("Connected");
});

test("without a cold start behind it, nothing is promised", () => {
  expect(sentence(server("x", { state: "asleep" }, { wake_ms: null }), now).text).toBe("Asleep");
});

test("a failed start is told until it works or is dismissed, and needs you", () => {
  const last_failure = { code: "exited_early", message: "Error: no API key", at_ms: now - 180_000, during: "start" } as const;
  const failed = server("x", { state: "asleep" }, { last_failure });
  const said = sentence(failed, now);
  expect(said.text).toMatch(/^The last start failed 3 min.* ago: Error: no API key$/);
  expect([said.spoken, said.tone, said.action, groupOf(failed)]).toEqual(["The last start failed", "bad", "See why", "needs-you"]);
  expect(groupOf(server("x", { state: "asleep" }))).toBe("asleep");
  expect(groupOf(server("x", { state: "off" }, { enabled: false, last_failure }))).toBe("off");
});

test("one that was never started is told from one that sleeps after use", () => {
  expect(sentence(server("x", { state: "asleep" }, { fresh: true }), now).text).toBe("Not started yet");
  const unread = { tools: null, resources: null };
  expect(sentence(server("x", { state: "ready", in_flight: 0, sleeps_at_ms: null }, unread), now).text).toBe("Reading what it offers");
});

test("the ring empties over the idle time", () => {
  expect(sentence(server("x", { state: "ready", in_flight: 0, sleeps_at_ms: now + 60_000 }), now).left).toBe(1 / 3);
});

test("an entry that waits for approval says so, whatever happened to the one before it", () => {
  const last_failure = { code: "docker_down", message: "Docker is not running", at_ms: 0, during: "start" } as const;
  const one = server("x", { state: "asleep" }, { last_failure, held: 1, not_started: "new_entry" });
  expect([sentence(one, 0).glyph, sentence(one, 0).action]).toEqual(["shield", "Review"]);
});
