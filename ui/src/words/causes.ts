// Why a server failed or something was left out, in German, by the parts that the hub tells. What a server, a launcher or the system wrote is quoted
// as it is. Read with the reasons of refusals, after the window has opened.
import type { ContainerEngine, FailureCause, LeftCause, ProcessEnd, Reach, SandboxFault } from "../lib/hub/generated";

function ended(end: ProcessEnd): string {
  if (end === "unknown") return "endete";
  return "code" in end ? `endete mit Code ${end.code}` : `wurde durch Signal ${end.signal} beendet`;
}

const last = (wrote: string | null) => (wrote === null ? "" : `; zuletzt schrieb er: ${wrote}`);

/** What some statuses mean. */
function meant(status: number): string {
  if (status === 401) return "Er verlangt eine Anmeldung";
  if (status === 403) return "Er lässt dieses Konto nicht zu";
  if (status === 404 || status === 405) return "Unter diesem Pfad antwortet kein MCP-Server";
  if (status === 429) return "Ihm sind es zu viele Anfragen";
  return status >= 500 ? "Der Fehler liegt bei ihm selbst" : "Er antwortete mit einem Fehler";
}

const troubles: Record<Reach, (error: string) => string> = {
  name: () => "Sein Hostname ist nicht zu finden",
  network: () => "Dieser Computer hat keinen Weg in sein Netz",
  security: (error) => `Eine sichere Verbindung kam nicht zustande: ${error}`,
  closed: () => "Unter seiner Adresse hört nichts zu",
  other: (error) => error,
};

const engines: Record<ContainerEngine, string> = { auto: "weder podman noch docker", podman: "kein podman", docker: "kein docker" };

/** Why its sandbox cannot be set up. */
function unsandboxed(fault: SandboxFault): string | undefined {
  if (fault === "absent") return "Dieses System hat keine eigene Sandbox; nenne darin einen „container“, oder nimm „sandbox“ aus seinem Eintrag";
  if (fault === "built_in") return "Was eingebaut ist, läuft in keinem Container";
  // A newer hub may know more of them.
  if (typeof fault === "string") return undefined;
  if ("relative" in fault) return `„${fault.relative}“ in seiner Sandbox muss ein absoluter Pfad sein oder mit ~/ beginnen`;
  if ("temporary" in fault) return `Das Verzeichnis für seine temporären Dateien ließ sich nicht anlegen: ${fault.temporary}`;
  if ("no_engine" in fault) return `Für seine Sandbox ist ${engines[fault.no_engine]} installiert`;
  if ("steers" in fault) return `„${fault.steers}“ in seinen Variablen würde das Programm steuern, das Container ausführt, statt ihn selbst; setze es im Image`;
  if ("unmountable" in fault) return `In „${fault.unmountable}“ steht ein Zeichen, das für Container trennt`;
}

/** A sentence without its full stop; of a kind that only a newer hub knows there is none. */
export function cause(one: FailureCause): string | undefined {
  switch (one.kind) {
    case "program_absent":
      return one.searched ? `${one.program} ist nicht im PATH` : `${one.program} gibt es nicht`;
    case "directory_absent":
      return `Sein Arbeitsverzeichnis ${one.directory} gibt es nicht`;
    case "not_executable":
      return `${one.program} darf nicht ausgeführt werden`;
    case "not_permitted":
      return `${one.program} darf nicht gestartet werden`;
    case "line_break":
      return `${one.program} ist eine Batchdatei, und ihr lässt sich kein Argument mit einem Zeilenumbruch übergeben`;
    case "not_started":
      return `${one.program} ließ sich nicht starten: ${one.error}`;
    case "unset":
      return `${one.names.join(", ")} ${one.names.length === 1 ? "ist" : "sind"} nicht gesetzt`;
    case "whole_line":
      return `Ein Programm namens „${one.line}“ gibt es nicht; in „command“ gehört nur das Programm („${one.program}“), jedes Argument in „args“`;
    case "other_placeholders":
      return `${one.names.map((name) => `\${${name}}`).join(", ")} ${one.names.length === 1 ? "ist ein Platzhalter" : "sind Platzhalter"} eines anderen Programms, ohne Bedeutung für Satchel; schreib den Ordner oder den Wert selbst`;
    case "exited":
      if (one.wrote !== null) return `${one.wrote} (der Prozess ${ended(one.end)})`;
      return `Der Prozess ${ended(one.end)}, ohne ${one.served ? "seit seiner letzten Antwort " : ""}etwas auszugeben`;
    case "output_closed":
      return "Er schloss seine Ausgabe, ohne zu enden";
    case "input_closed":
      return "Er schloss seine Eingabe";
    case "silent":
      return `Er gab ${one.seconds} s lang kein Lebenszeichen, bevor er bereit war${last(one.wrote)}`;
    case "no_answer":
      return `Er hat ${one.method === null ? "" : `${one.method} `}nicht innerhalb von ${one.seconds} s ${one.method === null ? "geantwortet" : "beantwortet"}${last(one.wrote)}`;
    case "refused":
      return `Er lehnte die Begrüßung ab: ${one.said}`;
    case "unusable":
      return `Seine Antwort auf ${one.method} ist nicht zu gebrauchen`;
    case "revision":
      return `Er spricht keine Fassung des Protokolls, die Satchel kennt${one.said ? `: ${one.said}` : ""}`;
    case "http": {
      const said = one.said === null ? "" : `: ${one.said}`;
      const again = one.retry_seconds === null ? "" : `; er will erst in ${one.retry_seconds} s wieder gefragt werden`;
      return `${meant(one.status)} (HTTP ${one.status})${said}${again}`;
    }
    case "redirected":
      return `Er leitet nach ${one.target} weiter (HTTP ${one.status}); ist er dorthin umgezogen, trag diese Adresse als seine „url“ ein`;
    case "unreached":
      return `Er ist nicht zu erreichen: ${troubles[one.trouble]?.(one.error) ?? one.error}`;
    case "session_expired":
      return "Seine Sitzung ist abgelaufen";
    case "sandbox":
      return unsandboxed(one.fault);
  }
}

/** Why something was left out; begins in small letters, without a full stop. */
export function leftOut(one: LeftCause): string | undefined {
  switch (one.kind) {
    case "faulty":
      return "sein Eintrag muss zuerst berichtigt werden";
    case "encrypted":
      return "dafür braucht es die Passphrase der Datei";
    case "newer":
      return "eine neuere Version von Satchel hat die Datei geschrieben; aktualisiere zuerst diese hier";
    case "path_taken":
      return "eine andere Datei hat diesen Namen; wähle einen anderen";
    case "not_an_object":
      return "sein Eintrag ist kein Objekt";
    case "no_target":
      return "sein Eintrag nennt weder ein Programm noch eine Adresse";
    case "two_targets":
      return "sein Eintrag nennt ein Programm und eine Adresse";
    case "no_type":
      return "sein Eintrag hat eine Adresse und keinen Typ, und das andere Programm übergeht solche Einträge";
    case "not_http":
      return "seine Adresse beginnt weder mit http:// noch mit https://";
    case "transport":
      return `er benutzt den Transport „${one.name}“, den Satchel nicht kennt`;
    case "scheme":
      return `seine Adresse beginnt mit ${one.scheme}://, was Satchel nicht kennt`;
    case "internal":
      return `er ist ein Teil des anderen Programms („${one.part}“)`;
    case "switch_only":
      return "sein Eintrag schaltet nur einen Server ein oder aus, der anderswo steht";
    case "settings_only":
      return `sein Eintrag hat nur Einstellungen für einen Server, der anderswo steht (${one.entry})`;
  }
}
