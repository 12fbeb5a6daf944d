// Why the hub refused something, and why a server failed, in German and by the hub's codes. A name that its own message
// quotes is said; what only the system, a parser or another server can say follows in its own words.
import type { Code } from "../lib/hub/generated";

interface Said {
  /** Begins in small letters and ends without a full stop; `name` is quoted and has a space before it, or is empty. */
  said: string | ((name: string) => string);
  /** What to do about it, where the table of remedies has nothing. */
  act?: string;
  /** The hub's own message says more. */
  more?: true;
}

const more = true;
const table: Record<Code, Said> = {
  // Servers, and the hub itself.
  spawn_not_found: { said: "das Programm wurde nicht gefunden", more },
  runtime_missing: { said: "was ihn startet, fehlt auf diesem Computer", more },
  docker_down: { said: "Docker läuft nicht" },
  spawn_denied: { said: "das Programm darf nicht ausgeführt werden", more },
  sandbox_unusable: { said: "seine Sandbox lässt sich nicht einrichten", more },
  dependency_broken: { said: "eine Bibliothek, die er benutzt, fehlt oder hat sich geändert", more },
  entry_wrong: { said: "sein Eintrag lässt sich so nicht ausführen", more },
  secret_source: { said: "ein Geheimnis war nicht zu lesen", more },
  exited_early: { said: "das Programm endete, bevor es bereit war", more },
  handshake_timeout: { said: "er hat nicht rechtzeitig geantwortet", more },
  stdout_noise: { said: "er schrieb etwas anderes als das Protokoll auf seine Standardausgabe", more },
  oom_killed: { said: "das System hat ihn beendet, wahrscheinlich aus Mangel an Speicher", more },
  handshake_refused: { said: "seine Antwort auf die Begrüßung war ein Fehler", more },
  protocol_version: { said: "er spricht keine Fassung des Protokolls, die Satchel kennt", more },
  crashed: { said: "die Verbindung brach ab", more },
  list_failed: { said: "seine Listen waren nicht zu lesen", more },
  tool_paused: { said: (name) => `das Werkzeug${name} ist nach mehreren Fehlern für einen Augenblick angehalten`, more },
  needs_credential: { said: "ihm fehlen Zugangsdaten", more },
  dns: { said: "der Name in seiner Adresse ist nicht zu finden", more },
  unreachable: { said: "unter seiner Adresse antwortet nichts", more },
  tls: { said: "sein Zertifikat ließ sich nicht prüfen", more },
  http_401: { said: "er verlangt eine Anmeldung", more },
  http_403: { said: "er lässt dieses Konto nicht zu", more },
  http_404: { said: "unter diesem Pfad gibt es keinen MCP-Server", more },
  http_5xx: { said: "der Fehler liegt auf der anderen Seite", more },
  keychain_locked: { said: "der Schlüsselbund ist verschlossen oder bewahrt nichts auf" },
  keychain_absent: { said: "es läuft kein Schlüsselbund" },
  vault_locked: { said: "die verschlüsselte Datei ist verschlossen" },
  config_invalid: { said: "die Konfiguration ist fehlerhaft", more },
  rule_invalid: { said: "eine Regel für Werkzeuge ist fehlerhaft", more },
  setting_invalid: { said: "eine Einstellung in der Konfiguration ist fehlerhaft", more },
  port_taken: { said: "ein anderes Programm benutzt den Port", more },
  socket_not_opened: { said: "der Socket eines Clients war nicht zu öffnen", more },
  no_tools: { said: "er läuft, bietet aber nichts an" },
  offline: { said: "dieser Computer hat kein Netz" },
  needs_sign_in: { said: (name) => `für${name || " ihn"} musst du dich anmelden` },
  needs_more_rights: { said: "die Anmeldung erlaubt das noch nicht" },
  needs_client_id: { said: "der Anbieter braucht eine Client-ID" },
  oauth_refused: { said: "die Anmeldung wurde abgelehnt", more },
  oauth_denied: { said: "die Anmeldung wurde im Browser abgelehnt" },
  oauth_discovery: { said: "wo man sich anmeldet, war nicht zu erfahren", more },
  oauth_refresh: { said: "die Anmeldung ließ sich gerade nicht erneuern", more },
  oauth_callback_timeout: { said: "die Anmeldung wurde im Browser nicht rechtzeitig abgeschlossen" },
  set_aside: { said: "eine beschädigte Datei wurde beiseitegelegt", more },
  ledger_unusable: { said: "Aufrufe werden nicht aufgezeichnet", more },
  held_back: { said: (name) => `${name ? name.trim() : "das"} ist zurückgehalten, bis du es freigibst` },
  approvals_lost: { said: "deine Freigaben gingen verloren" },
  denied: { said: "eine Regel oder ein Mensch hat es abgelehnt" },
  settings_held: { said: "Einstellungen in der Konfigurationsdatei sind zurückgehalten" },
  unknown_profile: { said: (name) => `es gibt kein Profil${name}` },
  setup_differs: { said: "auf einem anderen Computer ist etwas anders eingerichtet" },
  not_in_profile: { said: (name) => `${name ? name.trim() : "das"} gehört nicht zum gewählten Profil` },

  // Requests, and calls.
  unknown_server: { said: (name) => `es gibt keinen Server${name}`, act: "Vielleicht wurde er inzwischen umbenannt oder entfernt." },
  unknown_secret: { said: (name) => `es gibt kein Geheimnis${name}` },
  unknown_client: { said: (name) => `es gibt keinen Client${name}` },
  which_client: { said: "Server lassen sich nur aus einem Client auf einmal herausnehmen" },
  unknown_call: { said: "dieser Aufruf steht nicht im Verlauf" },
  unknown: { said: (name) => `${name ? name.trim() : "dieses Werkzeug"} gibt es nicht`, act: "Sieh unter den Werkzeugen seines Servers nach." },
  unknown_page: { said: "diese Seite wurde schon benutzt oder ist zu alt", act: "Rufe das Werkzeug noch einmal auf." },
  unknown_origin: { said: "wer das verlangt, war nicht zu erkennen", act: "Versuche es noch einmal." },
  bad_request: { said: "die Anfrage ist nicht zu verstehen", more },
  bad_query: { said: "die Abfrage ist nicht zu verstehen", more },
  bad_arguments: { said: "die Argumente passen nicht", more },
  bad_name: { said: (name) => `der Name${name} geht nicht`, more },
  bad_server: { said: "der Eintrag des Servers ist falsch", more },
  bad_client: { said: (name) => `der Name des Clients${name} geht nicht`, more },
  bad_paste: { said: "das ist nicht die Adresse, die der Browser nach der Anmeldung zeigt", act: "Kopiere die ganze Adresse aus dem Browser." },
  bad_rule: { said: "dafür lässt sich keine Regel schreiben", more, act: "Erlaube es einmal, oder schreib selbst eine weitere Regel." },
  bad_answer: { said: "diese Antwort passt nicht zur Frage", more },
  bad_skill: { said: "das ist kein Skill, der sich hinzufügen lässt", more },
  unknown_skill: { said: (name) => `den Skill${name} gibt es dort nicht` },
  skill_exists: { said: (name) => `den Skill${name} gibt es schon, oder ein Agent hat ihn` },
  too_many_pinned: { said: "mehr Werkzeuge lassen sich nicht anheften", act: "Löse erst eines." },
  bad_bundle: { said: "dieses Bundle ist nicht zu gebrauchen", more },
  bad_description: { said: "diese Beschreibung eines Servers ist nicht zu gebrauchen", more },
  no_digest: { said: "der Digest des Images war nicht zu erfahren", more },
  not_from_a_registry: { said: (name) => `${name ? name.trim() : "er"} wurde nicht aus einem Verzeichnis installiert` },
  unknown_listing: { said: (name) => `kein Verzeichnis führt${name || " das"}` },
  changed_in_place: { said: "was das Verzeichnis unter dieser Version führt, ist nicht mehr das Installierte", act: "Eine neuere Version ließe sich nehmen." },
  up_to_date: { said: "es gibt keine neuere Version" },
  package_swapped: { said: "die neue Version nennt ein anderes Paket als das installierte", more },
  way_gone: { said: "in der neuen Version läuft er nicht mehr auf dieselbe Art", act: "Entferne ihn, und installiere ihn neu." },
  needs_consent: { said: "dazu braucht es deine ausdrückliche Zustimmung", more },
  deleted: { said: "sein Verzeichnis hat ihn gelöscht", more },
  unknown_way: { said: "auf diese Art läuft er nicht", more },
  not_a_server: { said: "das beschreibt keinen Server", more, act: "Füge einen Block, eine Befehlszeile oder eine Adresse ein." },
  server_exists: { said: (name) => `einen Server${name} gibt es schon` },
  profile_exists: { said: (name) => `ein Profil${name} gibt es schon` },
  profile_in_use: { said: (name) => `das Profil${name} wird benutzt`, act: "Wähle dort erst ein anderes." },
  needs: { said: "es fehlt eine Angabe", more },
  empty: { said: "es wurde nichts eingegeben", more },
  unreadable: { said: "das war nicht zu lesen", more },
  unwritable: { said: "das war nicht zu schreiben", more },
  ledger: { said: "der Verlauf war nicht zu lesen oder zu schreiben", more },
  secret_store: { said: "der Speicher der Geheimnisse hat versagt", more },
  short_passphrase: { said: "die Passphrase ist zu kurz", act: "Nimm mindestens acht Zeichen, am besten mehrere Wörter." },
  unreferenced: { said: "kein Server verwendet es" },
  wrong_passphrase: { said: "dieses Passwort öffnet die Datei nicht" },
  upstream_error: { said: "der Server hat mit einem Fehler geantwortet", more },
  call_failed: { said: "der Aufruf ist fehlgeschlagen", more },
  not_repeatable: { said: "das war kein Aufruf eines Werkzeugs" },
  arguments_not_kept: { said: "die Argumente dieses Aufrufs wurden nicht aufbewahrt", act: "Gib sie noch einmal an." },
  cancelled: { said: "der Aufruf wurde abgebrochen" },
  too_many: { said: "es läuft schon zu vieles auf einmal", act: "Brich erst etwas davon ab, oder warte, bis es fertig ist." },
  closing: { said: "der Hub wird gerade beendet" },
  not_open: { said: "der Hub läuft nicht", act: "Warte, bis er läuft, oder starte ihn neu." },
  panicked: { said: "in Satchel ist ein Fehler aufgetreten", more, act: "Bitte melde ihn, mit dem Log." },
  switched_off: { said: "das ist in der Konfiguration ausgeschaltet", more },
  needs_person: { said: "das darf nur ein Mensch", more },
  from_a_server: { said: "ein MCP-Server, den Satchel ausführt, darf Satchel nicht steuern" },
  not_for_windows: { said: "das darf eine Seite des Fensters nicht verlangen" },
  changed_meanwhile: { said: "das hat sich geändert, seit es gezeigt wurde", act: "Sieh es dir noch einmal an." },
  unread: { said: (name) => `die Listen von${name || " ihm"} wurden noch nie gelesen`, act: "Starte ihn einmal." },
  nothing_removed: { said: (name) => `${name ? name.trim() : "der Server"} lässt sich nicht zurückholen`, act: "Füge ihn neu hinzu." },
  nothing_to_undo: { said: "es gibt nichts rückgängig zu machen" },
  not_asked: { said: "diese Frage ist nicht mehr offen" },
  other_question: { said: "diese Antwort gehört zu einer anderen Art von Frage" },
  too_soon: { said: "diese Zustimmung kam zu schnell, um gelesen worden zu sein", act: "Lies die Frage, und antworte dann noch einmal." },
  no_sign_in: { said: (name) => `${name ? name.trim() : "er"} braucht keine Anmeldung, oder niemand ist angemeldet` },
  not_connected: { said: (name) => `${name ? name.trim() : "dieser Client"} ist nicht verbunden`, act: "Verbinde ihn erst, unter Clients." },
  not_installed: { said: "dieser Client ist nicht auf diesem Computer", more },
  paste: { said: "die Einstellungen dieses Clients kann nur ein Mensch ändern", act: "Kopiere die Einrichtung, und füge sie dort ein." },
  no_way: { said: "auf diese Art lässt sich der Client nicht verbinden", more },
  client_file: { said: "die Datei des Clients lässt sich so nicht ändern, und es wurde nichts geschrieben", more, act: "Berichtige erst die Datei." },
  changed: { said: "ein anderes Programm hat die Datei inzwischen geändert, und es wurde nichts geschrieben", act: "Versuche es noch einmal." },
  version_unknown: { said: "welche Version geholt wurde, ist nicht bekannt", act: "Nenne die Version selbst." },
  versions_several: { said: "mehrere Versionen davon sind hier", more, act: "Nenne die Version selbst." },
  pinned_already: { said: "er nennt schon eine genaue Version, oder er holt kein Paket" },
  no_version: { said: (name) => `${name ? name.trim() : "das"} ist keine genaue Version`, act: "Nenne eine wie 1.2.3, oder den ganzen Digest eines Images." },
  not_opened: { said: "das ließ sich nicht öffnen", more, act: "Öffne die Adresse selbst in einem Browser." },
  passing_path: { said: "Satchel liegt an einem vorübergehenden Ort und wäre dort später nicht zu finden", more },
  autostart: { said: "was beim Anmelden startet, ließ sich nicht ändern", more },
  no_update: { said: "es gibt keine neuere Version zu installieren", act: "Sieh erst nach einer neueren Version." },
  clipboard: { said: "in die Zwischenablage ließ sich nichts schreiben", more },
};

/** The first name that a message quotes. */
const quoted = (message: string) => /"([^"]+)"/.exec(message)?.[1];

function inGerman(code: Code, message: string): string {
  const one = table[code];
  // A newer hub may know more codes than this window.
  if (!one) return message;
  const name = quoted(message);
  const said = typeof one.said === "string" ? one.said : one.said(name === undefined ? "" : ` „${name}“`);
  return one.more && message ? `${said}: ${message}` : said;
}

/** Why something was refused, and what to do; the table of remedies helps where the hub says what to do at all. */
export function refusal(code: Code, message: string, action: string, remedy: string | undefined): [said: string, act: string] {
  const ours = action?.includes("`satchel ") ? "" : action;
  return [inGerman(code, message), table[code]?.act ?? (action ? (remedy ?? ours) : "")];
}

export const failure = inGerman;

export { cause, leftOut } from "./causes";
export { caution } from "./cautions";
