// Why a server failed, in German, by what the hub tells in parts.
import { describe, expect, test } from "vitest";

import type { FailureCause, Left, LeftCause } from "../lib/hub/generated";
import { cause, leftOut } from "./causes";
import { de } from "./de";
import { en } from "./en";

describe("why a server failed", () => {
  test.each<[FailureCause, string]>([
    [{ kind: "program_absent", program: "npx", searched: true }, "npx ist nicht im PATH"],
    [{ kind: "program_absent", program: "/opt/npx", searched: false }, "/opt/npx gibt es nicht"],
    [{ kind: "directory_absent", directory: "/srv" }, "Sein Arbeitsverzeichnis /srv gibt es nicht"],
    [{ kind: "not_executable", program: "/opt/x" }, "/opt/x darf nicht ausgeführt werden"],
    [{ kind: "not_permitted", program: "/opt/x" }, "/opt/x darf nicht gestartet werden"],
    [{ kind: "unset", names: ["A", "B"] }, "A, B sind nicht gesetzt"],
    [{ kind: "exited", end: { code: 1 }, wrote: "error: no API key", served: false }, "error: no API key (der Prozess endete mit Code 1)"],
    [{ kind: "exited", end: { signal: 9 }, wrote: null, served: true }, "Der Prozess wurde durch Signal 9 beendet, ohne seit seiner letzten Antwort etwas auszugeben"],
    [{ kind: "exited", end: "unknown", wrote: null, served: false }, "Der Prozess endete, ohne etwas auszugeben"],
    [{ kind: "silent", seconds: 30, wrote: "listening on 3000" }, "Er gab 30 s lang kein Lebenszeichen, bevor er bereit war; zuletzt schrieb er: listening on 3000"],
    [{ kind: "no_answer", method: "initialize", seconds: 30, wrote: null }, "Er hat initialize nicht innerhalb von 30 s beantwortet"],
    [{ kind: "no_answer", method: null, seconds: 60, wrote: null }, "Er hat nicht innerhalb von 60 s geantwortet"],
    [{ kind: "http", status: 503, said: "Upstream down", retry_seconds: 5 }, "Der Fehler liegt bei ihm selbst (HTTP 503): Upstream down; er will erst in 5 s wieder gefragt werden"],
    [{ kind: "http", status: 401, said: null, retry_seconds: null }, "Er verlangt eine Anmeldung (HTTP 401)"],
    [{ kind: "unreached", trouble: "closed", error: "Connection refused" }, "Er ist nicht zu erreichen: Unter seiner Adresse hört nichts zu"],
    [{ kind: "unreached", trouble: "security", error: "UnknownIssuer" }, "Er ist nicht zu erreichen: Eine sichere Verbindung kam nicht zustande: UnknownIssuer"],
    [{ kind: "sandbox", fault: "built_in" }, "Was eingebaut ist, läuft in keinem Container"],
    [{ kind: "sandbox", fault: { no_engine: "auto" } }, "Für seine Sandbox ist weder podman noch docker installiert"],
    [{ kind: "sandbox", fault: { relative: "docs" } }, "„docs“ in seiner Sandbox muss ein absoluter Pfad sein oder mit ~/ beginnen"],
  ])("%j", (one, expected) => expect(cause(one)).toBe(expected));

  test("is the hub's own sentence in English, and in German where the parts are unknown", async () => {
    await de.rest();
    const known: FailureCause = { kind: "output_closed" };
    const later = { kind: "of_later" } as unknown as FailureCause;
    expect(cause({ kind: "sandbox", fault: "of_later" } as unknown as FailureCause)).toBeUndefined();
    const told = { code: "exited_early", message: "it closed its output without ending" } as const;
    expect(en.cause({ ...told, cause: known })).toBe("it closed its output without ending");
    expect(de.cause({ ...told, cause: known })).toBe("Er schloss seine Ausgabe, ohne zu enden");
    for (const cause of [later, undefined]) expect(de.cause({ ...told, ...(cause && { cause }) })).toBe("Das Programm endete, bevor es bereit war: it closed its output without ending");
    expect(de.cause({ message: "it ended" })).toBe("it ended");
  });
});

describe("why something was left out", () => {
  const told = (cause?: LeftCause): Left => ({ place: "cursor: notes", reason: "its entry is not an object", ...(cause && { cause }) });

  test("is the hub's own sentence in English, and in German where the parts are unknown", async () => {
    await de.rest();
    const later = { kind: "of_later" } as unknown as LeftCause;
    expect(leftOut(later)).toBeUndefined();
    expect(en.left(told({ kind: "not_an_object" }))).toBe("its entry is not an object");
    expect(de.left(told({ kind: "not_an_object" }))).toBe("sein Eintrag ist kein Objekt");
    for (const cause of [later, undefined]) expect(de.left(told(cause))).toBe("its entry is not an object");
  });
});
