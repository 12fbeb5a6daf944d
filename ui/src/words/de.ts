// Every German sentence of the window. The type makes sure that none is missing.
import { createSubscriber } from "svelte/reactivity";
import type { CallConsent, Caution, Code, DoctorFinding, NameFault, UsualRule, Whereabouts } from "../lib/hub/generated";
import { capital } from "../lib/refusal";
import type { Words } from "./en";

const plurals = new Intl.PluralRules("de");
const some = (count: number, one: string, other: string) => (plurals.select(count) === "one" ? one : other);

const fields = (names: string[] | undefined) => (names ?? []).map((name) => `„${name}“`).join(", ");

/** Why a name was not taken as it is. */
function nameFault(fault: NameFault): string {
  if (typeof fault === "string") {
    return {
      path: "er ist ein Pfad",
      control: "er enthält Steuerzeichen",
      blank: "er beginnt oder endet mit einem Leerzeichen",
      option: "er beginnt wie eine Option eines Befehls",
      unseen: "er enthält unsichtbare Zeichen",
      nothing: "sonst kann nichts davon ein Name sein",
    }[fault];
  }
  if ("long" in fault) return `er ist länger als ${fault.long} Zeichen`;
  if ("look_alikes" in fault) return `er enthält Buchstaben, die wie andere aussehen: ${fault.look_alikes}`;
  return `ein anderer Server heißt „${fault.taken}“, wenn auch vielleicht anders groß geschrieben`;
}

function whereabouts(program: Whereabouts): string {
  if (program === "built_in") return "Teil von Satchel";
  if ("at" in program) return program.at;
  if ("not_executable" in program) return `${program.not_executable} darf nicht ausgeführt werden`;
  if ("absent" in program) return `${program.absent} gibt es nicht`;
  const { command, instead } = program.missing;
  const there = instead.length > 0 ? `; stattdessen gefunden: ${instead.join(", ")}` : "";
  return `${command} ist nicht im PATH${there}`;
}

const troubles: Record<string, string> = {
  unreadable: "Seine Datei ist nicht zu lesen",
  vanished: "Satchels Eintrag steht nicht mehr in seiner Datei",
  edited: "Satchels Eintrag in seiner Datei wurde geändert",
  moved: "Satchel hat inzwischen eine andere Adresse",
};

/** What a doctor found; `doing` is what a server does. */
function diagnosis(one: DoctorFinding, doing?: string): string {
  switch (one.code) {
    case "config_read":
      return `${one.file}; Server: ${one.servers}`;
    case "config_damaged":
      return `${one.file}, ${one.why}`;
    case "rules_invalid":
    case "settings_invalid":
      return `${one.file}, ${one.why.join("; ")}`;
    case "config_absent":
      return `${one.file} gibt es noch nicht; sie entsteht beim ersten Start`;
    case "config_unreadable":
      return `${one.file} ist nicht zu lesen: ${one.why}`;
    case "search_by_words":
      return "Nur nach Wörtern; die Bedeutung ist in der Konfiguration ausgeschaltet";
    case "search_by_words_here":
      return `Nur nach Wörtern; die Bedeutung ist durch ${one.variable} ausgeschaltet`;
    case "search_with_service":
      return `Nach Wörtern und Bedeutung, mit ${one.model} unter ${one.url}`;
    case "search_with_model":
      return `Nach Wörtern und Bedeutung, mit dem Modell ${one.file}`;
    case "search_without_model":
      return "Nur nach Wörtern; das Modell für die Bedeutung fehlt";
    case "search_without_multilingual":
      return `Nur nach Wörtern; das mehrsprachige Modell fehlt: ${one.file}`;
    case "hub_absent":
      return "Es läuft keiner; `satchel serve` startet einen";
    case "hub_runs":
      return `Läuft als Prozess ${one.pid}${one.url ? ` unter ${one.url}` : ""}`;
    case "port_closed":
      return "Nichts hört zu: Clients können Satchel nicht erreichen";
    case "port_usual":
      return `${one.port}, unter ${one.url}`;
    case "port_other":
      return `${one.url}; der übliche Port ist ${one.usual}`;
    case "search_path":
      return one.dirs.join(", ");
    case "runtime":
      return whereabouts(one.program);
    case "client_waits":
      return `Verbunden in ${one.file}, und noch keine Anfrage ist gekommen`;
    case "client_connected":
      return `Verbunden in ${one.file}${one.doubled.length > 0 ? `; er startet auch selbst, was Satchel hat: ${one.doubled.join(", ")}` : ""}`;
    case "client_troubled":
      return troubles[one.trouble] ?? one.why;
    case "token_private":
      return `Nur dein Konto kann ${one.file} benutzen, weil ein Token darin steht; vorher konnten es auch andere (${one.before})`;
    case "token_readable":
      return `Andere Konten dieses Computers können ${one.file} benutzen (${one.mode}), worin ein Token steht${one.chosen ? "; so wurde er verbunden (--keep-mode)" : ""}`;
    case "profile_unknown":
      return `Nennt Server, die es hier nicht gibt: ${one.servers.join(", ")}`;
    case "secrets_kept":
      return `${one.count} gespeichert, ${one.store === "keychain" ? "im Schlüsselbund" : "in der verschlüsselten Datei"}`;
    case "secrets_silent":
      return `Der Schlüsselbund hat ${one.seconds} s lang nicht geantwortet`;
    case "server_seen": {
      const lacks = one.lacks.length > 0 ? `Braucht ${one.lacks.join(", ")}` : undefined;
      const also = one.also === "offers_nothing" ? "; er bietet weder Werkzeuge noch Ressourcen" : !one.also ? "" : "floats" in one.also ? `; es läuft die neueste Version von ${one.also.floats}, geprüft oder nicht` : "variables_here" in one.also ? `; deine Umgebung hat ${one.also.variables_here.join(", ")}, was Server nur bekommen, wenn ihr Eintrag es nennt` : `; ein Geheimnis steht auf seiner Befehlszeile, die jedes Programm dieses Computers lesen kann: ${one.also.secret_arguments.join(" ")}`;
      return `${lacks ?? doing ?? one.doing}; ${whereabouts(one.program)}${also}`;
    }
    case "noticed":
      return noticed({ code: one.notice, message: one.why });
    // In the words of the system or of a parser.
    case "hub_unreachable":
    case "profile_damaged":
      return one.why;
    case "secrets_unusable":
      return one.trouble ? (stores[one.trouble] ?? one.why) : one.why;
  }
}

/** The defaults that decide where no rule does. */
const usualTools: Record<UsualRule["tools"], string> = {
  every: "Jedes Werkzeug eines Servers, der an ist",
  reads: "Werkzeuge, die lesen",
  writes: "Werkzeuge, die schreiben",
  destructive: "Werkzeuge, die schreiben und die ihr Server zerstörend nennt",
  deletes: "Werkzeuge, die löschen",
  commands: "Werkzeuge, die Befehle ausführen",
  unstated: "Werkzeuge, die nicht sagen, ob sie löschen",
};
const usualPermits: Record<UsualRule["permit"], string> = { allow: "erlaubt", ask: "erst fragen", off: "aus" };
const consents: Record<CallConsent, string> = { once: "einmal erlaubt", session: "für diese Sitzung erlaubt", always: "von nun an erlaubt", client_once: "einmal erlaubt, wie der Client sagt", client_session: "für diese Sitzung erlaubt, wie der Client sagt" };

/** Why credentials cannot be stored. */
const stores: Partial<Record<Code, string>> = {
  keychain_locked: "Der Schlüsselbund ist verschlossen oder bewahrt nichts auf",
  keychain_absent: "Es läuft kein Schlüsselbund",
  vault_locked: "Die verschlüsselte Datei ist verschlossen",
};

/** What the hub wants a person to know, by its code. */
const notices: Partial<Record<Code, string>> = {
  port_taken: "der übliche Port war belegt",
  socket_not_opened: "der Socket eines Clients war nicht zu öffnen",
  keychain_absent: "Zugangsdaten lassen sich nicht sicher aufbewahren",
  vault_locked: "die verschlüsselte Datei mit den Zugangsdaten ist verschlossen",
  config_invalid: "die Konfiguration ist fehlerhaft",
  rule_invalid: "eine Regel für Werkzeuge ist fehlerhaft",
  setting_invalid: "eine Einstellung in der Konfiguration ist fehlerhaft",
  set_aside: "eine beschädigte Datei wurde beiseitegelegt",
  ledger_unusable: "Aufrufe werden nicht aufgezeichnet",
  approvals_lost: "deine Freigaben gingen verloren",
  settings_held: "Einstellungen in der Konfigurationsdatei sind zurückgehalten",
  setup_differs: "auf einem anderen Computer ist etwas anders eingerichtet",
};
/** Of these the hub's own words say what and where. */
const details = new Set<Code>(["port_taken", "socket_not_opened", "keychain_absent", "vault_locked", "config_invalid", "rule_invalid", "setting_invalid", "set_aside", "ledger_unusable"]);

/** Those that name something: as the hub says it, and in German. */
const named: [RegExp, string][] = [
  [/^port (\d+) is taken by another program; serving on port (\d+)$/, "ein anderes Programm benutzt den Port $1; Satchel nimmt den Port $2"],
  [/^the active profile "(.+)" cannot be used.*$/s, "das aktive Profil „$1“ ist nicht zu benutzen; Clients ohne eigenes Profil sehen nichts"],
];

function noticed({ code, message }: { code: Code; message: string }): string {
  const known = named.find(([english]) => english.test(message));
  if (known) return message.replace(...known);
  const said = notices[code];
  if (said === undefined) return message;
  return details.has(code) ? `${said}: ${message}` : said;
}

/** Wanted only when something went wrong, so it is read after the window has opened. */
let refusals: typeof import("./refusals") | undefined;
let read = () => {};
/** What was said in English before is said again once the German words are there. */
const unread = createSubscriber((update) => {
  read = update;
});

function caution(one: Caution): string {
  if (!refusals) unread();
  return refusals?.caution(one) ?? one.text;
}

/** What to do about refusals whose reasons are said in parts. */
const acts: Partial<Record<Code, string>> = {
  bad_description: "Wenn du seine Autoren kennst und genau das willst, füge ihn von Hand hinzu.",
  package_swapped: "Wenn du dem anderen Paket traust, entferne ihn und installiere ihn neu.",
};

/** What to do about what a doctor found; `remedy` is what helps against its code. */
function cure(one: DoctorFinding, remedy?: string): string {
  if (!one.action) return "";
  switch (one.code) {
    case "search_without_model":
      return "Satchels Installationsprogramme bringen es mit.";
    case "search_without_multilingual":
      return "Lege die Datei dieses Namens dort ab. Jedes Release hat sie.";
    case "runtime":
      return one.install ? `Installiere ${one.install.part_of}${one.install.command ? ` mit \`${one.install.command}\`, oder sieh nach unter ${one.install.page}` : ` von ${one.install.page}`}.` : one.action;
    case "client_waits":
      return after[one.action] ?? one.action;
    case "client_connected":
      return "Nimm sie aus seiner Datei, unter Clients.";
    case "token_readable":
      return `Mit \`satchel connect ${one.client}\` kann es nur noch dein Konto.`;
    case "client_troubled":
      return one.trouble === "unreadable" ? "Berichtige die Datei; vorher lässt er sich nicht verbinden." : `Verbinde ihn neu, unter Clients oder mit \`satchel connect ${one.client}\`.`;
    case "server_seen":
      if (one.lacks.length > 0) {
        const secret = one.lacks.some((name) => !one.variables.includes(name)) ? ["Trag es auf der Seite des Servers ein."] : [];
        const variable = one.variables.length > 0 ? [`Setze ${one.variables.join(", ")} in der Umgebung, in der Satchel gestartet wird.`] : [];
        return [...secret, ...variable].join(" ");
      }
      if (one.also && one.also !== "offers_nothing") return "floats" in one.also ? "Lege eine Version fest, auf der Seite des Servers." : "variables_here" in one.also ? `Wenn er das braucht, schreib „env“: {„${one.also.variables_here[0]}“: „\${env:${one.also.variables_here[0]}}“} in seinen Eintrag.` : "Wenn er dafür eine Variable kennt, gib es in „env“ statt in „args“ an.";
      return remedy ?? (one.verdict === "note" ? "Sieh ihn dir an, und gib ihn frei." : one.action);
    default:
      return remedy ?? one.action;
  }
}

/** What to do at a provider, as the table of providers says it, and in German. */
const hint: Record<string, string> = {
  "Register an OAuth app there, with the redirect address below, and make a client secret.": "Registriere dort eine OAuth-App mit der Rücksprungadresse unten und erzeuge ein Client-Geheimnis.",
  "Create an OAuth client of the type Desktop app there, and copy its ID and its secret.": "Lege dort einen OAuth-Client vom Typ Desktop-App an und kopiere seine ID und sein Geheimnis.",
  "Create an app there, add the redirect address below to it, and copy its client ID and secret.": "Lege dort eine App an, trage die Rücksprungadresse unten ein und kopiere Client-ID und Geheimnis.",
  "Create an app for MCP there, add the redirect address below to it, and copy its client ID and secret.": "Lege dort eine App für MCP an, trage die Rücksprungadresse unten ein und kopiere Client-ID und Geheimnis.",
  "Figma registers only apps that it knows. Create an app there, with the redirect address below.": "Figma registriert nur Apps, die es kennt. Lege dort eine App mit der Rücksprungadresse unten an.",
  "ClickUp registers only apps that it knows: ask it for a client ID there.": "ClickUp registriert nur Apps, die es kennt: Bitte dort um eine Client-ID.",
  "Register a public client there, with the redirect address below, and copy its application ID.": "Registriere dort einen öffentlichen Client mit der Rücksprungadresse unten und kopiere seine Anwendungs-ID.",
  "Create an app of the type Native there, with the redirect address below, and copy its client ID.": "Lege dort eine App vom Typ Native mit der Rücksprungadresse unten an und kopiere ihre Client-ID.",
  "Create an application of the type Native there, with the redirect address below, and copy its client ID.": "Lege dort eine Anwendung vom Typ Native mit der Rücksprungadresse unten an und kopiere ihre Client-ID.",
};

/** What to do after connecting, as the table of clients says it, and in German. */
const reasons: [RegExp, string][] = [
  [/^(.*) would load every tool's definition into each conversation$/, "$1 lüde die Beschreibung jedes Werkzeugs in jedes Gespräch"],
  [/^(.*) takes (\d+) tools, and there are (\d+)$/, "$1 nimmt $2 Werkzeuge, und es gibt $3"],
  [/^(.*) loads tool definitions by itself only when it needs them$/, "$1 lädt Beschreibungen von selbst erst, wenn es sie braucht"],
  [/^nothing is known of this client.*$/, "Über diesen Client ist nichts bekannt, darum bekommt er vier Werkzeuge, die alle anderen finden"],
];
const after: Record<string, string> = {
  "Check Settings > MCP; switch the server on if it is shown as off.": "Sieh unter Settings > MCP nach und schalte den Server ein, wenn er aus ist.",
  "Confirm the Install MCP Server form.": "Bestätige „Install MCP Server“.",
  "Confirm the install dialog.": "Bestätige die Installation.",
  "Nothing.": "Nichts weiter.",
  "Nothing; Kiro reconnects on save.": "Nichts weiter; Kiro verbindet sich beim Speichern neu.",
  "Nothing; allow the server when a chat asks for it.": "Nichts weiter; erlaube den Server, wenn ein Chat danach fragt.",
  "Nothing; check MCP Servers > Installed.": "Nichts weiter; zu sehen unter MCP Servers > Installed.",
  "Nothing; check Settings > MCP servers.": "Nichts weiter; zu sehen unter Settings > MCP servers.",
  "Nothing; check the agent panel settings for a green dot.": "Nichts weiter; in den Einstellungen des Agenten steht dann ein grüner Punkt.",
  "Nothing; servers restart on save. An organisation policy may block MCP.": "Nichts weiter; die Server starten beim Speichern neu. Eine Organisation kann MCP sperren.",
  "Satchel listens on this computer alone: give LibreChat's container the host's network (network_mode: host), and restart it.":
    "Satchel hört nur auf diesem Computer: gib LibreChats Container das Netz des Computers (network_mode: host) und starte ihn neu.",
  "In a container, Open WebUI needs the host's network (--network host): Satchel listens on this computer alone.":
    "In einem Container braucht Open WebUI das Netz des Computers (--network host): Satchel hört nur auf diesem Computer.",
  "Nothing; servers.json is watched.": "Nichts weiter; servers.json wird beobachtet.",
  "Nothing; the file is watched.": "Nichts weiter; die Datei wird beobachtet.",
  "Nothing; the settings file is watched.": "Nichts weiter; die Einstellungen werden beobachtet.",
  "Open Chat > Tools, or press Start above the entry in mcp.json; confirm the trust question.": "Öffne Chat > Tools oder drücke Start über dem Eintrag in mcp.json und bestätige die Frage nach dem Vertrauen.",
  "Open Copilot Chat > Tools and tick Satchel's tools: they start switched off.": "Öffne Copilot Chat > Tools und hake Satchels Werkzeuge an: sie sind anfangs aus.",
  "Open a new Junie chat.": "Öffne einen neuen Chat mit Junie.",
  "Open a new session, or run /mcp in an open one.": "Öffne eine neue Sitzung, oder tippe /mcp in einer offenen.",
  "Paste the JSON in Settings > Tools > AI Assistant > MCP and press Apply.": "Füge das JSON unter Settings > Tools > AI Assistant > MCP ein und drücke Apply.",
  "Press Refresh in Cascade > MCP servers.": "Drücke Refresh unter Cascade > MCP servers.",
  "Press Refresh in Manage MCP servers.": "Drücke Refresh unter Manage MCP servers.",
  "Quit Claude completely (menu bar / tray > Quit) and open it again.": "Beende Claude ganz (Menüleiste oder Infobereich > Quit) und öffne es neu.",
  "Reload the config; MCP works in agent mode only.": "Lade die Konfiguration neu; MCP geht nur im Agentenmodus.",
  "Restart 5ire.": "Starte 5ire neu.",
  "Restart Jan or toggle the server.": "Starte Jan neu, oder schalte den Server aus und ein.",
  "Restart Kilo / reload the editor window.": "Starte Kilo neu, oder lade das Fenster des Editors neu.",
  "Restart Xcode's Copilot app if the server does not show.": "Starte die Copilot-App von Xcode neu, wenn der Server nicht erscheint.",
  "Restart amp.": "Starte amp neu.",
  "Restart crush.": "Starte crush neu.",
  "Restart gemini or run /mcp refresh; in an untrusted folder no server starts.": "Starte gemini neu, oder tippe /mcp refresh; in einem Ordner ohne Vertrauen startet kein Server.",
  "Restart opencode.": "Starte opencode neu.",
  "Restart qwen.": "Starte qwen neu.",
  "Restart the container.": "Starte den Container neu.",
  "Start a new agent conversation.": "Beginne ein neues Gespräch mit dem Agenten.",
  "Start a new copilot session.": "Beginne eine neue Sitzung mit copilot.",
  "Start a new q chat; custom agents need useLegacyMcpJson: true.": "Beginne einen neuen q chat; eigene Agenten brauchen useLegacyMcpJson: true.",
  "Start a new session or thread (CLI, IDE extension and ChatGPT desktop read the same file).": "Beginne eine neue Sitzung (CLI, IDE und ChatGPT lesen dieselbe Datei).",
  "Restart Hermes. Without the Python package mcp it has no servers.": "Starte Hermes neu. Ohne das Python-Paket mcp hat es keine Server.",
  "Start a new session.": "Beginne eine neue Sitzung.",
  'Start a new session; "enabled" under [mcp] in its file has to be true.': "Beginne eine neue Sitzung; „enabled“ unter [mcp] in seiner Datei muss true sein.",
};

export const de: Words = {
  app: "Satchel",
  loading: "Der Hub wird gelesen",
  open: "Öffnen",
  openIt: (what) => `${what} öffnen`,

  nav: {
    main: "Hauptbereiche",
    servers: "Server",
    catalog: "Katalog",
    skills: "Skills",
    activity: "Aktivität",
    savings: "Ersparnis",
    clients: "Clients",
    settings: "Einstellungen",
    search: "Suchen, starten",
    needYou: (count) => `${count} ${some(count, "braucht", "brauchen")} dich`,
    switchTheme: "Hell oder dunkel",
  },

  hub: {
    on: "Der Hub läuft",
    paused: "Der Hub macht Pause",
    pausedUntil: (time) => `Bis ${time}. Aufrufe werden abgelehnt, Server schlafen.`,
    pausedOpen: "Bis du fortsetzt. Aufrufe werden abgelehnt, Server schlafen.",
    resume: "Fortsetzen",
    opening: "Der Hub startet",
    stopped: "Der Hub steht",
    elsewhere: "Der Hub läuft anderswo",
    noServers: "Noch keine Server",
    clientsSee: (tools) => `Clients sehen 4 Werkzeuge, nicht ${tools}`,
    clientsSeeFour: "Clients sehen 4 Werkzeuge",
    notListening: "Noch hört nichts zu",
    copyAddress: "Adresse kopieren",
    copied: "Kopiert",
  },

  servers: {
    look: "Ansehen",
    notConnected: "Noch ist kein Client verbunden",
    notConnectedText: "Das Einrichten dauert eine Minute und endet mit einem Werkzeugaufruf aus deinem eigenen Editor.",
    notNow: "Nicht mehr zeigen",
    setUp: "Einrichten",
    title: "Server",
    summary: (added, awake) => `${added} hinzugefügt, ${awake} wach`,
    filter: "Filtern",
    filterLabel: "Server filtern",
    list: "Server",
    add: "Hinzufügen",
    groups: { "needs-you": "Braucht dich", awake: "Wach", asleep: "Schläft", off: "Aus" },
    tools: (count, shown) => `${shown} ${some(count, "Werkzeug", "Werkzeuge")}`,
    tokens: (shown) => `${shown} ${shown === "1" ? "Token" : "Tokens"}`,
    used: (calls, shown) => `${shown} ${some(calls, "Aufruf", "Aufrufe")} in den letzten 24 Stunden`,
    available: (name) => `${name}, für Clients verfügbar`,
    row: (name, sentence) => `${name}, ${sentence}`,
    place: { computer: "Läuft auf diesem Computer", hosted: "Läuft anderswo" },
    noMatch: (text) => `Kein Server passt zu „${text}“.`,
    clear: "Leeren",
    empty: {
      title: "Noch nichts in der Tasche",
      text: "Füge einen Server einmal hinzu, und jeder verbundene Client kann ihn benutzen. Er schläft, bis ihn etwas braucht.",
      add: "Server hinzufügen",
      catalog: "Im Katalog suchen",
      paste: "Oder füge hier einen Befehl, eine Adresse oder einen mcpServers-Block ein.",
    },
    choose: "Wähle einen Server, um zu sehen, was er ausführt und wie es ihm geht.",
    refused: (name) => `${name} wurde nicht geändert.`,
  },

  profiles: {
    notIn: (server, profile) => `${server} ist nicht im Profil ${profile}`,
    notInText: "Clients sehen ihn nicht, solange dieses Profil gilt.",
    include: (profile) => `In ${profile} aufnehmen`,
    profile: "Profil",
    everything: "Alles",
    edit: "Profile bearbeiten",
    make: "Neues Profil",
    sees: (seen) => `, Clients sehen ${seen}`,
    outside: "Nicht im Profil",
    title: "Profile",
    text: "Ein Profil ist eine benannte Auswahl von Servern. Clients sehen immer eine.",
    servers: (count) => `${count} Server`,
    usedBy: (who) => `benutzt von ${who}`,
    everybody: "allen Clients",
    everybodyElse: "allen anderen Clients",
    editTitle: (name) => `${name} bearbeiten`,
    name: "Name",
    inIt: "Server darin",
    notHere: (name) => `${name} (fehlt)`,
    only: "Nur diese Werkzeuge",
    onlyText: "Ein Pfad pro Zeile, etwa github:get_*. Ein Server, den kein Pfad nennt, behält alle Werkzeuge.",
    except: "Diese Werkzeuge nicht",
    exceptText: "Ein Pfad pro Zeile, etwa *:delete_*.",
    unknown: (names) => `Nicht gefunden: ${names}`,
    save: "Sichern",
    remove: "Entfernen",
    whichever: "Das jeweils gewählte",
    all: "Alle Profile",
  },

  state: {
    off: "Aus · für Clients unsichtbar",
    asleep: "Schläft",
    asleepWakes: (time) => `Schläft · wacht in etwa ${time} auf`,
    asleepHosted: "Bereit · verbindet sich beim Aufruf",
    starting: "Startet",
    downloading: "Wird geladen",
    since: (what, time) => `${what} · ${time}`,
    reading: "Liest, was er anbietet",
    fresh: { computer: "Noch nie gestartet", hosted: "Noch nie verbunden" },
    failed: {
      start: { computer: "Der letzte Start schlug fehl", hosted: "Die letzte Verbindung schlug fehl" },
      run: { computer: "Er endete von selbst", hosted: "Die Verbindung endete" },
      lists: { computer: "Seine Werkzeuge waren nicht zu lesen", hosted: "Seine Werkzeuge waren nicht zu lesen" },
    },
    failedWhy: (what, ago, why) => `${what}, ${ago}: ${why}`,
    needsSignIn: "Braucht eine Anmeldung oder Zugangsdaten",
    signIn: { needs_sign_in: "Braucht eine Anmeldung", signing_in: "Weiter im Browser", needs_client_id: "Braucht eine Client-ID", needs_more_rights: "Braucht mehr Rechte" },
    renewalDelayed: (time) => `Erneuerung verzögert · nächster Versuch um ${time}`,
    running: { computer: "Läuft", hosted: "Verbunden" },
    sleepsIn: (running, time) => `${running} · schläft in ${time}`,
    calls: (running, calls) => `${running} · ${calls} ${some(calls, "Aufruf", "Aufrufe")}`,
    stopping: "Hält an",
    stopped: "Angehalten",
    didNotStart: "Nicht gestartet",
    doesNotAnswer: "Antwortet nicht",
    tryingAgain: (what, time) => `${what} · nächster Versuch in ${time}`,
    tryingNow: (what) => `${what} · neuer Versuch`,
    gaveUp: (failures) => `Pausiert nach ${failures} ${some(failures, "Fehlstart", "Fehlstarts")}`,
    notStarted: {
      new_entry: "Neu in der Konfigurationsdatei · wartet auf dich",
      changed_entry: "In der Konfigurationsdatei geändert · wartet auf dich",
      lost: "Deine Freigabe ging verloren · wartet auf dich",
      package: "Ein Paket hat anderen Inhalt · wartet auf dich",
      secret: "Will das Geheimnis eines anderen Servers · wartet auf dich",
    },
    heldBack: (count) => `${count} ${some(count, "Beschreibung ist", "Beschreibungen sind")} zurückgehalten`,
    invalid: "Eintrag ist falsch",
    locked: "Zugangsdaten sind verschlossen",
    needs: (names) => (names.length === 1 ? `Braucht ${names[0]}` : `Braucht ${names.length} Zugangsdaten`),
  },

  action: {
    review: "Ansehen",
    seeWhy: "Grund ansehen",
    addCredential: "Eintragen",
    signIn: { needs_sign_in: "Anmelden", signing_in: "Abbrechen", needs_client_id: "Client-ID eingeben", needs_more_rights: "Erlauben" },
    forServer: (action, name) => `${action}: ${name}`,
  },

  held: {
    asks: "Außerhalb von Satchel in die Konfigurationsdatei geschrieben",
    title: (count) => `${count} ${some(count, "Beschreibung ist", "Beschreibungen sind")} zurückgehalten`,
    text: "Clients bekommen diese Beschreibungen erst, wenn du genau das freigibst, was hier steht. Alles andere von diesem Server geht weiter.",
    inForce: { before: "bis dahin gilt, was vorher da war", varies: "ändert sich ständig: Halte es zurück, und es gilt für immer, was vorher da war" },
    settings: "Einstellungen in der Konfigurationsdatei",
    accept: "Übernehmen",
    newEntries: (count) => `${count} neue Server in der Konfigurationsdatei`,
    newEntriesText: "Satchel hat sie nicht geschrieben und startet keinen davon, bevor du ihn freigibst. Hier steht ganz, was jeder ausführt oder womit er sich verbindet.",
    approveAll: (count) => `Alle ${count} freigeben`,
    group: {
      added: (count) => `${count} Ressourcen sind dazugekommen`,
      new: (count) => `${count} Ressourcen sind neu`,
    },
    keepAll: (count) => `Alle ${count} zurückhalten`,
    newLaunchText: "Ein anderes Programm oder eine andere Hand hat diesen Eintrag in die Konfigurationsdatei geschrieben. Satchel startet ihn nicht, verbindet sich nicht und gibt ihm nichts, bevor du genau das freigibst, was hier steht.",
    secretText: "Er verweist auf ein gespeichertes Geheimnis, das einem anderen Server, Programm oder einer anderen Adresse gehört. Satchel startet ihn nicht, bevor du freigibst, wer das Geheimnis bekommt.",
    launchText: "Sein Eintrag in der Konfigurationsdatei wurde geändert, und nicht von dir in Satchel. Er startet erst, wenn du genau das freigibst, was hier steht.",
    packageText: "Ein Paket, das er benutzt, hat unter derselben Version einen anderen Inhalt als zuvor. Das sollte nicht sein. Er startet erst, wenn du genau diesen freigibst.",
    why: { changed: "geändert", added: "später dazugekommen", new: "neu", alarming: "der Text könnte ein Modell täuschen", lost: "die Freigabe ging verloren" },
    kept: "bleibt zurück",
    keep: "Zurückhalten",
    approve: "Freigeben",
    change: (name) => `Was an ${name} anders ist`,
    newTitle: (count) => `Neu · sieh dir seine ${some(count, "Beschreibung", `${count} Beschreibungen`)} an`,
    newText: "Clients können sie so benutzen, wie sie sind. Spätere Änderungen warten auf deine Freigabe.",
    importedTitle: "Übernommen",
    importedText: "Er lief schon auf diesem Computer, darum gelten seine Werkzeuge als freigegeben. Spätere Änderungen warten auf deine Freigabe.",
    looked: "Als geprüft markieren",
    kind: { tool: "Werkzeug", prompt: "Vorlage", resource: "Ressource", template: "Ressourcen", skill: "Skill", introduction: "Name von", instructions: "Anweisungen von", beside: "Neben", launch: "Was startet für", package: "Paket", secret: "Geheimnis" },
    odd: {
      hidden_text: "Verborgener Text",
      control_characters: "Steuerzeichen",
      look_alike: "Zum Verwechseln ähnliche Buchstaben",
      instruction: "Gibt dem Modell Befehle",
      other_tools: "Spricht über Werkzeuge anderer Server",
      asks_for_secrets: "Will Geheimnisse",
      encoded: "Verschlüsselter Text",
      active_content: "Auszeichnung oder Links, die von selbst handeln",
      layout: "So gesetzt, dass ein Teil nicht zu sehen ist",
      resembles: "Ähnelt Texten, die Modelle irreführen",
    },
  },

  pane: {
    back: "Zurück zur Liste",
    more: (name) => `Mehr für ${name}`,
    place: { computer: "Dieser Computer", hosted: "Anderswo" },
    tabs: { overview: "Übersicht", tools: "Werkzeuge", offers: "Ressourcen", log: "Log", setup: "Aufbau" },
    tabList: (name) => `Teile von ${name}`,
    restart: "Neu starten",
    sleepNow: "Schlafen legen",
    duplicate: "Verdoppeln",
    duplicated: (name) => `${name} kam dazu, genauso aufgebaut.`,
    wakeNow: "Aufwecken",
    tryNow: "Jetzt versuchen",
    copyJson: "Als JSON kopieren",
    remove: "Entfernen…",
    numbers: {
      day: "Die letzten 24 Stunden",
      none: "Keine Aufrufe in den letzten 24 Stunden.",
      calls: (calls) => `${some(calls, "Aufruf", "Aufrufe")} in 24 h`,
      median: "Median",
      p95: "95. Perzentil",
      errors: () => "Fehler",
    },
    usedBy: "Benutzt von, in 24 h",
    usedText: (calls, shown, ago) => `${shown} ${some(calls, "Aufruf", "Aufrufe")}, ${ago}`,
    prompts: "Prompts",
    credentials: {
      title: "Zugangsdaten",
      kept: "im Schlüsselbund",
      variable: "aus der Umgebung",
      replace: "Ersetzen",
      cancel: "Abbrechen",
      test: "Prüfen",
      testing: "Wird geprüft…",
      worked: "Er startet mit diesen Zugangsdaten.",
      failed: (why) => `Er startete damit nicht: ${why}`,
    },
    offered: {
      resources: "Ressourcen",
      templates: "Vorlagen für Ressourcen",
      prompts: "Prompts",
      none: "Er bietet weder Ressourcen noch Prompts an.",
      read: "Lesen",
      readIt: (title) => `${title} lesen`,
      get: "Zeigen",
      fill: (title) => `${title} zeigen`,
      close: "Schließen",
      address: "Adresse",
      more: (count) => `${count} weitere stehen hier nicht.`,
      filter: "Ressourcen und Prompts filtern",
      noMatch: "Nichts passt.",
      needed: "nötig",
    },
    environment: {
      title: "Umgebung",
      headers: "Kopfzeilen",
      none: "Nichts ist gesetzt.",
      add: "Variable hinzufügen",
      addHeader: "Kopfzeile hinzufügen",
      name: "Name",
      value: (name) => `Wert von ${name || "der neuen"}`,
      remove: (name) => `${name || "Die neue"} entfernen`,
      save: "Sichern",
      undo: "Verwerfen",
      saved: (name) => `${name} ist so aufgebaut, wie geschrieben.`,
      secret: "Punkte stehen für ein Geheimnis, das bleibt, wie es ist. ${secret:NAME} nimmt eines aus dem Schlüsselbund.",
      twice: (name) => `${name} steht zweimal da.`,
      empty: "Ein Name fehlt.",
    },
    toolsTitle: "Werkzeuge",
    toolsBold: (tools, tokens) => `${tools}, ${tokens}`,
    toolsText: " an Beschreibungen. Ein direkt verbundener Client lüde sie zu Beginn jeder Sitzung. Über Satchel werden sie nur geladen, wenn danach gefragt wird.",
    permit: (tool) => `Darf ${tool} aufgerufen werden?`,
    permits: { allow: "Erlauben", ask: "Fragen", off: "Aus" },
    ruled: (tool, permit) => `${tool}: ${permit}`,
    claimsNote: "Liest, schreibt und löscht sagt der Server über seine eigenen Werkzeuge. Satchel prüft es nicht. Mit Fragezeichen legen es nur die Worte des Werkzeugs nahe.",
    toolsUnknown: "Noch unbekannt. Die Liste wird beim ersten Aufwachen gelesen.",
    toolsUncounted: " Ihre Beschreibungen sind noch nicht gezählt.",
    skipped: (count) => `${count} ${some(count, "Werkzeug wurde", "Werkzeuge wurden")} ausgelassen`,
    runs: "Führt aus",
    address: "Adresse",
    package: {
      floats: "Keine Version ist festgelegt: Es läuft die neueste, geprüft oder nicht.",
      pin: (version) => `Auf ${version} festlegen`,
      unfetched: "Starte ihn einmal, um sie zu sehen, oder lege im Aufbau eine fest, etwa",
      unknown: "Lege im Aufbau eine fest, etwa",
      several: (versions) => `Hier sind ${versions}. Lege im Aufbau eine davon fest, etwa`,
      version: "Version",
      only: "keine andere läuft",
      contents: "Inhalt",
    },
    facts: {
      sleepsAfter: "Schläft nach",
      withoutCall: (time) => `${time} ohne Aufruf`,
      never: "Nie, solange der Hub läuft",
      wakesIn: "Wacht auf in",
      median: "Median der letzten Starts",
      memory: "Speicher",
      processor: "Prozessor",
      percent: (percent) => `${percent} % eines Kerns`,
      share: (percent) => `${percent} %`,
      most: (most) => `höchstens ${most}`,
      processes: (count) => `${count} ${some(count, "Prozess", "Prozesse")}`,
      restarts: "Neu gestartet",
      noise: "Fremde Ausgabe",
      noiseTimes: (times, shown) => `${shown} ${some(times, "Mal", "Mal")}, übergangen`,
      process: "Prozess-ID",
      starts: "Startet",
      startup: {
        lazy: "Beim ersten Aufruf",
        "keep-alive": "Beim ersten Aufruf, dann behalten",
        eager: "Mit dem Hub, dann behalten",
        manual: "Nur durch dich",
      },
      resources: "Ressourcen",
      says: "Nennt sich",
    },
    logTitle: "Letzte Zeilen",
    logAll: "Ganzes Log",
    logEmpty: "Noch nichts protokolliert.",
    logUnreadable: "Das Log kann nicht gelesen werden.",
    logFile: "Das ganze Log liegt in",
    copyLog: "Kopieren",
    toolsFilter: "Werkzeuge filtern",
    toolsNone: "Kein Werkzeug passt.",
    toolsEmpty: "Er bietet keine Werkzeuge an.",
    toolKind: {
      reading: "Liest",
      searching: "Sucht",
      writing: "Schreibt",
      deleting: "Löscht",
      sending: "Sendet",
      running: "Führt aus",
      converting: "Wandelt um",
      other: "",
    },
    toolComplexity: { simple: "leicht aufzurufen", moderate: "nimmt mehrere Werte", complex: "nimmt verschachtelte Werte" },
    toolChanged: (ago) => `${ago} geändert`,
    toolSince: (ago) => `${ago} zuerst gesehen`,
    logFrom: { info: "Alle", warning: "Warnungen", error: "Fehler" },
    logLevels: { error: "Fehler", warning: "Warnung" },
    logFind: "Im Log suchen",
    logNoMatch: "Keine Zeile passt.",
    logTheFile: "die Logdatei",
    logFolder: "den Ordner der Logs",
    logOpenFile: "Datei öffnen",
    logOpenFolder: "Ordner öffnen",
    logShow: "Welche Zeilen",
    logNoProblems: "Keine Probleme in diesen Zeilen.",
    newLines: (lines) => `${lines} neue ${some(lines, "Zeile", "Zeilen")}`,
    setup: {
      name: "Name",
      theFile: "die Konfigurationsdatei",
      minutes: "Minuten ohne Aufruf; 0 für nie",
      entry: "Eintrag in der Konfiguration",
      edit: "Bearbeiten",
      cancel: "Abbrechen",
      save: "Speichern",
      saved: (name) => `${name} ist nun aufgebaut, wie es da steht.`,
      help: "Punkte stehen für ein Geheimnis, das bleibt, wie es ist. ${secret:NAME} holt eines aus dem Schlüsselbund. Eine Änderung startet den Server neu.",
      notJson: (why) => `Das ist noch kein gültiges JSON: ${why}`,
      file: "Der Eintrag steht in der Konfigurationsdatei. Änderungen dort gelten, sobald du sie speicherst.",
      copyPath: "Pfad der Konfigurationsdatei kopieren",
    },
    sandbox: {
      title: "Sandbox",
      name: (name) => `Sandbox für ${name}`,
      off: "Er kann alles, was dein Benutzerkonto kann.",
      on: "Er erreicht nur, was jedes Programm braucht, und was unten aufgeführt ist.",
      network: "Er darf ins Netz",
      read: "Dateien und Ordner, die er lesen darf, einer je Zeile",
      write: "Dateien und Ordner, die er ändern darf, einer je Zeile",
      save: "Speichern",
      again: "Eine Änderung startet den Server neu.",
      container: (image) => `In einem Container von ${image}`,
      impossible: "Dieses System hat keine Sandbox außer Containern: satchel sandbox --help",
    },
    share: {
      title: "Läuft einmal für",
      choices: { auto: "wen es passt", all: "alle Clients", client: "jeden Client", session: "jede Sitzung", project: "jeden Projektordner" },
      why: {
        all: "Alle Clients teilen ihn und was er geöffnet hat.",
        client: "Jeder Client hat eine eigene Instanz. Kein anderer Client sieht, was sie geöffnet hat.",
        session: "Jede Sitzung hat eine eigene Instanz. Keine andere Sitzung sieht, was sie geöffnet hat.",
        project: "Jeder Projektordner hat eine eigene Instanz. Alle Clients, die in dem Ordner arbeiten, teilen sie.",
        entry: "Sein Eintrag enthält ${project}, also läuft eine Instanz in einem Ordner und in keinem anderen.",
        seen: "Satchel hat das gewählt, weil der Server zwischen Aufrufen etwas offen hält, zum Beispiel einen Browser.",
      },
      instances: "Laufende Instanzen",
      session: (client, number) => `${client}, Sitzung ${number}`,
    },
  },

  card: {
    invalid: (name) => `Der Eintrag von ${name} ist nicht zu gebrauchen`,
    invalidText: "Berichtige ihn in der Konfigurationsdatei, oder entferne ihn. Alle anderen Server laufen.",
    failed: (name) => `${name} konnte nicht starten`,
    unconnected: (name) => `${name} konnte nicht verbunden werden`,
    unreachable: (name) => `${name} antwortet nicht`,
    nextTry: (time) => `Nächster Versuch in ${time}.`,
    paused: (time) => `Pausiert. Nächster Versuch in ${time}.`,
    pausedCalls: (time) => `Pausiert. Noch ${time} lang werden Aufrufe abgelehnt; der erste danach startet ihn wieder.`,
    nextCall: "Der nächste Aufruf startet ihn wieder.",
    nextCallHosted: "Der nächste Aufruf verbindet ihn wieder.",
    failedAt: {
      start: (name) => `${name} konnte nicht starten`,
      run: (name) => `${name} endete bald nach dem Start`,
      lists: (name) => `Die Werkzeuge von ${name} waren nicht zu lesen`,
    },
    signIn: (name) => `${name} will eine Anmeldung oder Zugangsdaten`,
    dismiss: "Ausblenden",
    starting: (name) => `${name} startet`,
    downloading: (name) => `${name} wird geladen`,
    downloadingText: "Beim ersten Mal wird geladen, was er ausführt. Das kann einige Minuten dauern. Spätere Starts sind schneller.",
    cancel: "Abbrechen",
    phases: { launching: "Programm starten", handshake: "Erste Antwort und Liste der Werkzeuge" },
    startingText: "Ein erster Start lädt vielleicht ein Paket. Spätere sind schneller.",
    startingLong: (usual) => `Dauert länger als üblich (etwa ${usual}).`,
    credential: (count) => (count === 1 ? "Ein Wert fehlt" : `${count} Werte fehlen`),
    credentialText: (name) =>
      `${name} startet nicht ohne. Ein hier gespeicherter Wert geht in den Schlüsselbund, nie in eine Datei, und nur an Server, die ihn nennen.`,
    value: (name) => `Wert von ${name}`,
    paste: "Wert einfügen",
    save: "Speichern",
    saved: (name) => `${name} ist gespeichert.`,
    variables: (names) => `${names}: wird aus der Umgebung gelesen, in der es nicht gesetzt ist. Was du hier sicherst, kommt in deinen Schlüsselbund, und der Eintrag holt es von dort.`,
    needsVariables: (count) => (count === 1 ? "Eine Variable ist nicht gesetzt" : `${count} Variablen sind nicht gesetzt`),
    off: (name) => `${name} ist aus`,
    offText: (tools) =>
      tools === null
        ? "Clients sehen seine Werkzeuge nicht. Seine Einstellungen bleiben."
        : `Clients sehen ${some(tools, "sein Werkzeug", `seine ${tools} Werkzeuge`)} nicht. Seine Einstellungen bleiben.`,
  },

  signIn: {
    title: {
      needs_sign_in: (name) => `${name} braucht eine Anmeldung`,
      signing_in: () => "Weiter im Browser",
      needs_client_id: (name) => `${name} braucht eine Client-ID`,
      needs_more_rights: (_, tool) => `${tool} braucht mehr Rechte`,
    },
    text: "Du meldest dich auf einer Seite im Browser an. Die Anmeldung kommt in den Schlüsselbund und wird ohne Rückfrage erneuert.",
    again: "Neu anmelden",
    page: (host, left) => `Die Seite ist bei ${host}. Satchel wartet noch ${left}.`,
    open: "Seite noch einmal öffnen",
    notOpened: "Kopiere unten die Adresse der Seite und öffne sie selbst in einem Browser.",
    elsewhere: "Der Browser läuft auf einem anderen Computer",
    elsewhereText: "Öffne die Seite dort und melde dich an. Danach erreicht der Browser diesen Computer nicht. Füge die Adresse ein, die er dann zeigt.",
    copyPage: "Adresse der Seite kopieren",
    paste: "Adresse einfügen",
    use: "Übernehmen",
    clientIdText: (provider) => `${provider} legt keine App von selbst an. Lege dort eine an, mit dieser Rücksprungadresse.`,
    hint: (english) => hint[english] ?? english,
    theProvider: "Der Anbieter",
    redirect: "Rücksprungadresse",
    copyRedirect: "Rücksprungadresse kopieren",
    register: "Wo du sie anlegst",
    copyRegister: "Adresse kopieren, wo du sie anlegst",
    id: "Client-ID",
    secret: "Client-Geheimnis, falls es eines gibt",
    secretHint: "Kommt in den Schlüsselbund, nicht in eine Datei",
    save: "Speichern und anmelden",
    rightsText: "Der Anbieter fragt dich im Browser. Was gewährt wurde, bleibt.",
    missing: "Fehlt",
    account: "Konto",
    as: "Angemeldet als",
    signedIn: "Angemeldet",
    provider: "Anbieter",
    granted: "Gewährt",
    lost: "Abgemeldet",
    asked: "Gefragt",
    renewal: "Erneuerung",
    renews: "Ohne Rückfrage",
    ends: (time) => `Keine. Um ${time} wirst du wieder gefragt`,
    endless: "Keine",
    delayed: (time) => `Verzögert, nächster Versuch um ${time}`,
    signOut: "Abmelden",
    signedOut: (name) => `Von ${name} abgemeldet.`,
    alone: "Hier abgemeldet; dem Anbieter konnte es nicht gesagt werden.",
    waiting: "Diese wollen eine Anmeldung",
  },

  undo: "Rückgängig",
  remove: {
    title: (name) => `Den Server „${name}“ entfernen?`,
    text: "Er hält an, Clients sehen ihn nicht mehr, und sein Eintrag verlässt die Konfigurationsdatei.",
    confirm: "Entfernen",
    cancel: "Behalten",
    done: (name) => `${name} wurde entfernt.`,
    secretsStay: "Seine Geheimnisse bleiben im Schlüsselbund.",
    signsOut: "Du wirst auch von ihm abgemeldet.",
    withSecrets: (names) => `Auch die Zugangsdaten vergessen, die nur er benutzt: ${names}`,
    undone: (name) => `${name} ist wieder da.`,
  },

  palette: {
    title: "Suchen oder ausführen",
    placeholder: "Server, Werkzeug, Bereich oder Befehl",
    none: (text) => `Nichts heißt „${text}“.`,
    groups: { go: "Gehe zu", servers: "Server", tools: "Werkzeuge", commands: "Befehle", catalog: "Katalog" },
    keys: "↑ ↓ wählen, Eingabe ausführen, Esc schließen",
    commands: {
      add: "Server hinzufügen: Befehl, Adresse oder JSON",
      copy: "Adresse kopieren",
      pauseHour: "1 Stunde Pause",
      pauseTomorrow: "Pause bis morgen",
      pause: "Pause, bis ich fortsetze",
      resume: "Fortsetzen",
      light: "Helles Aussehen",
      dark: "Dunkles Aussehen",
      welcome: "Neu einrichten",
      doctor: "Diagnose: finden, was nicht geht",
      shortcuts: "Tastenkürzel",
      quit: "Satchel beenden",
      restart: (name) => `„${name}“ neu starten`,
      on: (name) => `„${name}“ einschalten`,
      off: (name) => `„${name}“ ausschalten`,
      profile: (name) => `Profil „${name}“ benutzen`,
      everything: "Kein Profil benutzen: alles",
    },
  },

  shortcuts: {
    title: "Tastenkürzel",
    keys: { ctrl: "Strg", shift: "Umschalt", space: "Leertaste", ends: "Pos1 Ende", enter: "Eingabe" },
    close: "Schließen",
    rows: {
      palette: "Suchen oder ausführen",
      screens: "Server, Katalog, Skills, Aktivität, Ersparnis, Clients",
      settings: "Einstellungen",
      add: "Server hinzufügen",
      filter: "Liste filtern",
      move: "In einer Liste bewegen",
      open: "Gewähltes öffnen",
      back: "Zurück, dann Filter leeren",
      toggle: "Server ein- oder ausschalten",
      restart: "Gezeigten Server neu starten",
      log: "Sein Log",
      tabs: "Voriges, nächstes Register",
      undo: "Das Letzte zurücknehmen",
      panes: "Von der Leiste zur Liste zum Bereich",
      help: "Diese Liste",
    },
  },

  choose: { file: "Datei auswählen…", folder: "Ordner auswählen…" },
  registry: {
    title: "Aus Verzeichnissen",
    known: (known) => `${known} bekannt`,
    found: (_, shown) => `${shown} Server`,
    language: "Läuft mit",
    anyLanguage: "Jede Laufzeit",
    languages: { javascript: "Node.js", python: "Python", dotnet: ".NET", container: "Container", bundle: "Bundle" },
    sort: "Sortiert nach",
    sorts: { best: "Passt am besten", newest: "Neueste", name: "Name" },
    withoutKey: "Kein Schlüssel nötig",
    reading: "Das Verzeichnis wird gelesen…",
    unread: (url, why) => `${url} war nicht zu lesen: ${why}. Was bekannt ist, bleibt hier.`,
    installed: (name) => `Hinzugefügt als ${name}`,
    statuses: { active: "Aktiv", deprecated: "Veraltet", deleted: "Von seinem Verzeichnis gelöscht" },
    look: "Genau hinsehen",
    cannotRun: "Läuft hier nicht",
    way: "Wie er läuft",
    notOffered: (way, why) => `${way} wird nicht angeboten: ${why}.`,
    runs: "Läuft auf deinem Computer",
    connects: "Verbindet sich mit",
    gives: "Bekommt",
    version: "Version",
    publisher: "Herausgeber",
    listedBy: "Verzeichnis",
    repository: "Repository",
    afterwards: "Sein Herausgeber sagt, für danach (Satchel führt es nicht aus):",
    accept: (says) => `Ich nehme hin: ${says}`,
    tag: { account: "Konto geprüft", domain: "Domain geprüft", unknown: "Nicht geprüft", bundled: "" },
    describes: (publisher) => `${publisher} schreibt:`,
    proof: { account: "GitHub-Konto, vom Verzeichnis geprüft", domain: "Domain, vom Verzeichnis geprüft", unknown: "nicht geprüft, soweit Satchel weiß", bundled: "" },
    license: "Lizenz",
    figures: "Sagt sein Eintrag",
    stars: (count) => `${count} Sterne`,
    downloads: (count) => `${count} Downloads`,
    published: "Erschienen",
    reach: "Kann erreichen",
    reachContainer: "Das Netz, und von diesem Computer, was in seinen Container eingebunden ist",
    missing: (program) => `${program} ist hier nicht installiert.`,
    copyCommand: "Befehl kopieren",
    missingCommand: "Installiere es mit",
    perLine: "Eines je Zeile",
    install: (title) => `${title} installieren`,
    installing: "Wird installiert…",
    isInstalled: (title) => `${title} ist installiert`,
    updateTitle: "Aktualisierung",
    changed: (line) => line.replace(/^no longer /, "nicht mehr ").replace(/^now /, "jetzt "),
    newer: (newer, here) => `Version ${newer} ist erschienen. Du hast ${here}.`,
    update: (version) => `Auf ${version} aktualisieren`,
    notNow: "Jetzt nicht",
    isOut: (version) => `${version} ist da`,
    toolsAfter: "Werkzeuge, die die neue Version hinzufügt oder ändert, bleiben zurückgehalten, bis du gesehen hast, was anders ist.",
    wentBack: (name) => `${name} ist wie vor der Aktualisierung`,
    keepDeleted: "Weiter benutzen",
    keepDeletedNamed: (name) => `${name} weiter benutzen`,
    isKept: (name) => `${name} bleibt in Benutzung, obwohl sein Verzeichnis ihn gelöscht hat.`,
    isUpdated: (name, version) => `${name} läuft mit ${version}`,
  },
  catalog: {
    title: "Katalog",
    beside: (entries, made) => `${entries} Server, Stand ${made}`,
    byCommand: "Befehl oder Adresse",
    ask: "Was sollen deine Agenten können?",
    search: "Katalog durchsuchen",
    place: "Wo er läuft",
    places: { all: "Alle", computer: "Dieser Computer", hosted: "Anderswo" },
    topic: "Thema",
    topics: { all: "Alles", code: "Code", data: "Daten", browser: "Browser", docs: "Dokumente", ops: "Betrieb", files: "Dateien" },
    list: "Server zum Hinzufügen",
    none: (text) => `Kein Server hier passt zu „${text}“.`,
    noneAct: "Mit Befehl oder Adresse hinzufügen",
    clear: "Leeren",
    add: "Hinzufügen",
    added: "Hinzugefügt",
    addNamed: (title) => `${title} hinzufügen`,
    see: (title) => `${title} ansehen`,
    isAdded: (title) => `${title} ist hinzugefügt`,
    license: "Lizenz",
    by: (publisher) => `von ${publisher}`,
    local: "Lokal",
    hosted: "Fern",
    figures: (tools, tokens) => `${tools}, ${tokens}`,
    notMeasured: "Noch nicht gezählt",
    noAccount: "Kein Konto",
    keys: (count) => `${count} Schlüssel`,
    settings: (count) => `${count} ${some(count, "Angabe", "Angaben")}`,
    choose: "Wähle einen Server, um zu sehen, was er ausführt, braucht und erreicht.",
    runs: "Läuft auf deinem Computer",
    connects: "Verbindet sich mit",
    needs: "Braucht",
    needsNothing: "Nichts",
    runtimes: { node: "Node.js, für npx", uv: "uv, für uvx" },
    reach: "Kann erreichen",
    reachComputer: "Alles, was dein Benutzerkonto erreicht",
    reachHosted: (host) => `Was das Konto bei ${host} erreicht`,
    reachHostedOpen: (host) => `Was ${host} jedem zeigt`,
    context: "Kontext",
    contextText: (tools, tokens) => `${tools}, ${tokens} ${tokens === "1" ? "Token" : "Tokens"} je Sitzung zurückgehalten`,
    contextUnknown: "Wird gezählt, wenn die Liste zum ersten Mal gelesen ist",
    measuredOn: (version, on, tokenizer) => `Version ${version}, gezählt am ${on} mit ${tokenizer}.`,
    tools: "Werkzeuge",
    more: (count) => `${count} weitere zeigen`,
    claims: { reads: "Liest", writes: "Schreibt", deletes: "Löscht vielleicht", unstated: "Ohne Angabe" },
    claimsNote: "Liest, schreibt und löscht sagt der Server über seine eigenen Werkzeuge. Niemand hat es geprüft.",
    safety: "In dieser Liste zu stehen ist keine Sicherheitsprüfung.",
    get: "Wo man es bekommt",
    signIn: "Anmeldung",
    orSignIn: (key) => `Eine Anmeldung im Browser, oder: ${key}`,
    emptySignsIn: "Leer lassen, um dich im Browser anzumelden",
    keptInKeyring: "Kommt in den Schlüsselbund, nicht in eine Datei",
    adding: "Wird hinzugefügt…",
    home: "Seine Seite",
  },

  activity: {
    title: "Aktivität",
    hour: (calls, failures) => `${calls} ${calls === "1" ? "Aufruf" : "Aufrufe"} in 60 min${failures === 0 ? "" : `, ${failures} Fehler`}`,
    liveFiltered: "Live",
    live: (sessions) => `Live, ${sessions} ${some(sessions, "Sitzung", "Sitzungen")}`,
    stopped: "Liste angehalten",
    pause: "Liste anhalten",
    follow: "Neuen Aufrufen folgen",
    newer: (count) => `${count} neuere`,
    chart: (calls, peak) => `Aufrufe je Minute in der letzten Stunde: ${calls} insgesamt, höchstens ${peak} in einer Minute`,
    chartStart: "vor 60 min",
    chartNow: "jetzt",
    show: "Welche Aufrufe",
    filters: { all: "Alle", problems: "Probleme", asked: "Fragte mich" },
    filter: "Server, Client, Werkzeug",
    list: "Aufrufe",
    columns: { time: "Zeit", tool: "Werkzeug", tokens: "Tokens", took: "Dauer" },
    session: (calls, ago) => `${calls} ${some(calls, "Aufruf", "Aufrufe")}, ${ago}`,
    times: (count) => `×${count}`,
    row: (tool, server, time, outcome) => `${tool} in ${server} um ${time}, ${outcome}`,
    ok: "hat funktioniert",
    empty: "Noch keine Aufrufe",
    emptyText: "Bitte einen deiner Clients, ein Werkzeug zu benutzen, und es erscheint hier, während es geschieht.",
    emptyAct: "Client verbinden",
    none: "Kein Aufruf passt.",
    clear: "Leeren",
    older: "Ältere Aufrufe",
    choose: "Wähle einen Aufruf, um zu sehen, wer fragte, was es kostete und wie es ausging.",
    at: (server, time) => `${server} um ${time}`,
    outcomes: {
      ok: "Hat funktioniert",
      tool_error: "Fehlgeschlagen",
      upstream_error: "Fehlgeschlagen",
      not_sent: "Nicht gesendet",
      not_executed: "Nicht ausgeführt",
      unknown: "Vielleicht ausgeführt",
      cancelled: "Abgebrochen",
    },
    facts: {
      asked: "Gefragt von",
      took: "Dauer",
      inServer: (time) => `${time} im Server`,
      wake: (time) => `${time} zum Aufwecken`,
      context: "Im Kontext",
      tokens: (tokens) => `${tokens} ${tokens === "1" ? "Token" : "Tokens"}`,
      uncounted: "Nicht gezählt",
      keptOut: "Ferngehalten",
      loss: (tokens: string) => `Nichts: es kostete ${tokens} Tokens mehr`,
      rule: "Regel",
      protocol: "Protokoll",
    },
    route: "Weg",
    routeTokens: "Tokens",
    inside: "Aufrufe dieses Skripts",
    ofScript: "Aufgerufen von einem Skript",
    loss: "kostete mehr, als es sparte",
    scriptNotKept: "Ein Skript wird nur aufbewahrt, wenn jeder Server, den es aufruft, Aufrufe aufbewahrt. Dieses wurde nicht aufbewahrt und kann nicht noch einmal ausgeführt werden.",
    arguments: "Argumente",
    result: "Ergebnis",
    told: "Was dem Modell gesagt wurde",
    failedBecause: "Was schiefging",
    noResult: "Es gibt kein Ergebnis zu zeigen.",
    keep: {
      notKept: "Argumente und Ergebnis dieses Aufrufs wurden nicht aufbewahrt.",
      start: (days) => `${days} ${some(days, "Tag", "Tage")} aufbewahren, ohne Geheimnisse`,
      text: (server) => `Von jetzt an, für alle Aufrufe von ${server}. Sie bleiben auf diesem Computer.`,
      kept: (server) => `Aufrufe von ${server} werden von jetzt an aufbewahrt. Dieser war früher.`,
      stop: "Nicht mehr aufbewahren",
      on: (server, days) => `Aufrufe von ${server} werden ${days} ${some(days, "Tag", "Tage")} aufbewahrt, ohne Geheimnisse.`,
      off: (server) => `Aufrufe von ${server} werden nicht mehr aufbewahrt.`,
    },
    payload: {
      view: "Wie es gezeigt wird",
      views: { read: "Ansicht", json: "JSON" },
      copy: (what) => `Kopieren: ${what}`,
      search: (what) => `Suchen in ${what}`,
      find: "Suchen",
      found: (at, of) => `${at} von ${of}`,
      none: "Nicht gefunden",
      previous: "Vorige Stelle",
      next: "Nächste Stelle",
      more: (lines) => `Noch ${lines} ${some(lines, "Zeile", "Zeilen")} zeigen`,
    },
    trace: {
      open: "Ganze Sitzung",
      title: "Die Sitzung, Aufruf für Aufruf",
      since: (time) => `seit ${time}`,
      parts: { waited: "wartete auf dich oder bis es dran war", woke: "weckte den Server", worked: "arbeitete" },
      later: (time) => `${time} später`,
      newest: (count) => `Die neuesten ${count} Aufrufe.`,
      step: (tool, server, time, parts, outcome) => [`${tool}${server ? ` in ${server}` : ""} um ${time}`, parts, outcome].filter(Boolean).join(", "),
      close: "Schließen",
    },
    runAgain: "Noch einmal…",
    again: {
      title: (tool) => `${tool} noch einmal ausführen`,
      text: "Läuft wie der Aufruf eines Clients, nach denselben Regeln.",
      hidden: "Verborgene Werte stehen dort als ***. Gib sie neu ein.",
      close: "Schließen",
    },
  },

  trying: {
    pin: "Unter /mcp immer sichtbar",
    pinName: (tool) => `${tool}, für Clients immer sichtbar`,
    pinText: "Clients führen es neben Satchels eigenen Werkzeugen auf, damit ein Modell nicht danach suchen muss. Seine Definition kostet in jeder Sitzung Token.",
    pinned: (tool, on) => (on ? `Clients führen ${tool} ohne Suche auf.` : `Clients finden ${tool} über die Suche.`),
    pinnedFor: (names) => `auch für ${names}`,
    moreText: "Mehr zeigen",
    script: {
      ways: "Wie es ausprobiert wird",
      way: { call: "Ein Aufruf", script: "Skript" },
      text: "Der Rumpf einer async-Funktion in JavaScript, wie ihn ein Client mit Skripten schreibt. Ihr Rückgabewert ist das Ergebnis.",
      script: "Skript",
      input: "Eingabe",
      inputJson: "Eingabe als JSON",
      failed: "Das Skript ist fehlgeschlagen",
      calls: (calls) => `${calls} ${some(calls, "Aufruf", "Aufrufe")}`,
      callFailed: "fehlgeschlagen",
      unended: "nicht beendet",
    },
    arguments: "Argumente",
    view: "Wie Argumente geschrieben werden",
    views: { form: "Formular", json: "JSON" },
    argumentsJson: "Argumente als JSON",
    none: "Es nimmt keine Argumente.",
    kinds: { text: "Text", number: "Zahl", whole: "ganze Zahl", toggle: "ja oder nein", choice: "eins von", several: "einige von", list: "Liste", group: "Objekt", either: "eine von mehreren Arten", json: "JSON" },
    listOf: (kind) => `Liste: ${kind}`,
    length: (min, max) => between(min || null, max ?? null, "Zeichen"),
    pattern: (pattern) => `passt auf ${pattern}`,
    range: (min, max) => (min !== undefined && max !== undefined ? `${min} bis ${max}` : min !== undefined ? `mindestens ${min}` : max !== undefined ? `höchstens ${max}` : ""),
    preset: (value) => `sonst ${value}`,
    required: "nötig",
    deprecated: "veraltet",
    unknown: "nicht im Schema",
    kept: "Dieser Wert passt nicht zum Schema. Er bleibt als JSON erhalten.",
    faults: {
      missing: (name) => `${name || "Das"} ist nötig.`,
      number: () => "Das ist keine Zahl.",
      whole: () => "Das muss eine ganze Zahl sein.",
      bounds: () => "Das liegt außerhalb des erlaubten Bereichs.",
      short: (min) => `Mindestens ${min} Zeichen.`,
      long: (max) => `Höchstens ${max} Zeichen.`,
      pattern: (pattern) => `Das passt nicht auf ${pattern}.`,
      misfit: () => "Das passt nicht zum Schema.",
    },
    yes: "Ja",
    no: "Nein",
    choose: "Wählen…",
    unset: "Nicht gesetzt",
    which: (name) => `Welche Art von ${name}`,
    asJson: (name) => `${name} als JSON`,
    nullIt: (name) => `null als ${name} senden`,
    add: "Hinzufügen",
    addIt: (name) => `${name} setzen`,
    addTo: (name) => `Zu ${name} hinzufügen`,
    remove: (name) => `${name} entfernen`,
    newName: (name) => `Name für einen neuen Eintrag${name && ` in ${name}`}`,
    nameIt: "Name",
    more: (count) => `${count} weitere`,
    badJson: "Das ist noch kein gültiges JSON.",
    badObject: "Die Argumente müssen ein JSON-Objekt sein.",
    run: "Ausführen",
    again: "Noch einmal",
    running: "Läuft…",
    cancel: "Abbrechen",
    hint: "Läuft wirklich, nach denselben Regeln wie der Aufruf eines Clients.",
    willAsk: "Satchel fragt dich, bevor es läuft.",
    mend: "Einige Felder fehlen oder passen nicht.",
    done: (time) => `Beantwortet nach ${time}.`,
    progress: "Fortschritt",
    log: "Protokoll des Servers zu diesem Aufruf",
    sofar: (progress) => `Bisher: ${progress}`,
    asks: (server) => `${server} wartet auf deine Antwort`,
    asksText: "Antworte im kleinen Fenster von Satchel. Danach geht der Aufruf weiter.",
    failed: "Der Aufruf ist fehlgeschlagen",
    cancelled: "Abgebrochen. Möglicherweise hatte es schon begonnen.",
    page: {
      title: (server) => `Seite von ${server}`,
      window: "Seite eines Servers",
      shown: "Sie hat ein eigenes Fenster.",
      closed: "Sie ist geschlossen.",
      raise: "Seite zeigen",
      close: "Seite schließen",
      reaches: (origins) => `Vom Server geschrieben. Sie erreicht ${origins} und sonst nichts.`,
      reachesNothing: "Vom Server geschrieben. Sie erreicht das Netz nicht.",
      kept: (origins) => `Nicht erlaubt: ${origins}.`,
      called: (tool, time) => `${tool} aufgerufen, ${time}`,
      refused: (tool, why) => `${tool} wurde nicht aufgerufen. ${why}`,
      did: "Was die Seite tat",
      none: "Seine Seite ließ sich nicht zeigen.",
    },
    copyAs: "Kopieren als",
    copies: { json: "Aufruf als JSON", curl: "curl", satchel: "satchel-Befehl" },
    copied: { json: "Der Aufruf wurde kopiert.", curl: "Der curl-Befehl wurde kopiert. Setz dein Token an die Stelle von YOUR_TOKEN.", satchel: "Der satchel-Befehl wurde kopiert." },
    result: "Ergebnis",
    toolFailed: "Das Werkzeug meldet einen Fehler",
    resultView: "Wie das Ergebnis gezeigt wird",
    resultViews: { shown: "Ansicht", text: "Text", json: "JSON" },
    copyResult: "Ergebnis kopieren",
    tokens: (tokens) => `${tokens} ${tokens === "1" ? "Token" : "Tokens"}`,
    aboutTokens: (tokens) => `etwa ${tokens} ${tokens === "1" ? "Token" : "Tokens"}`,
    bytes: (bytes) => `${bytes} ${bytes === 1 ? "Byte" : "Bytes"}`,
    corrected: "Satchel hat berichtigt:",
    nothing: "Es hat nichts zurückgegeben.",
    whole: "Alles zeigen",
    less: "Weniger zeigen",
    picture: (type, size) => `Bild vom Werkzeug, ${type}, ${size}`,
    sound: (type, size) => `Ton vom Werkzeug, ${type}, ${size}`,
    unplayable: (type) => `Dieser Ton (${type}) kann hier nicht abgespielt werden.`,
    visit: "Seite öffnen…",
    openPage: "Eine Seite öffnen",
    opens: (host) => `Eine Seite bei ${host} öffnen?`,
    notNow: "Nicht jetzt",
    copyAddress: "Adresse kopieren",
    open: "Öffnen",
    recorded: "Aufgezeichnet wie jeder Aufruf.",
    inActivity: "In der Aktivität zeigen",
    schema: "Schema",
    inputSchema: "Eingabe",
    outputSchema: "Ausgabe",
    copySchema: (name) => `Schema kopieren: ${name}`,
    traits: { idempotent: "Wiederholbar", openWorld: "Wirkt nach außen", commands: "Führt Befehle aus", deprecated: "Veraltet", page: "Hat eine Seite" },
  },

  savings: {
    title: "Ersparnis",
    range: "Wie weit zurück",
    ranges: { week: "7 Tage", month: "30 Tage", all: "Alles" },
    export: "CSV kopieren",
    net: (range) => `Aus dem Kontext gehaltene Tokens, netto, ${range}`,
    rangeWords: { week: "letzte 7 Tage", month: "letzte 30 Tage", all: "von Anfang an" },
    lost: (range) => `Satchel kostete mehr Tokens, als es heraushielt, ${range}`,
    without: "hätten direkte Verbindungen geladen",
    with: "lud Satchel selbst",
    kept: (percent, sessions) => `herausgehalten, ${percent} % weniger, in ${sessions} ${sessions === "1" ? "Sitzung" : "Sitzungen"}`,
    keptPlain: (sessions) => `herausgehalten, in ${sessions} ${sessions === "1" ? "Sitzung" : "Sitzungen"}`,
    early: (sessions) => `Zu früh für ein Urteil: ${sessions} ${some(sessions, "Sitzung", "Sitzungen")}`,
    perDay: "Je Tag",
    daysCost: (days) => (days === 0 ? "" : `${days} ${some(days, "Tag kostete", "Tage kosteten")} mehr, als gespart wurde`),
    chart: (days, best, most) => `Tokens je Tag über ${days} ${some(days, "Tag", "Tage")}; am meisten herausgehalten am ${best}, ${most}`,
    legend: { spent: "Satchel verbrauchte", kept: "aus dem Kontext gehalten", over: "kostete mehr, als es sparte" },
    sessionsOf: "Sitzungen",
    unread: "Noch nicht gezählt: seine Liste wurde nie gelesen",
    table: "Als Tabelle",
    asChart: "Als Diagramm",
    day: "Tag",
    keptOut: "herausgehalten",
    savedBy: "Gespart nach",
    by: { client: "Client", server: "Server", tool: "Werkzeug" },
    router: "Satchels eigene Werkzeuge",
    costs: "Kostet hier mehr, als es spart",
    spent: "Was Satchel ausgab",
    parts: { definitions: "Vier Werkzeug-Beschreibungen", find: "Suchergebnisse", describe: "Beschreibungen", wrapping: "Umhüllung der Aufrufe" },
    how: "So wird gezählt",
    measured: "Satchels Seite ist gemessen:",
    measuredText: " jede Liste, Suche und Beschreibung, die es sandte, gezählt wie gesandt, und abgezogen.",
    comparison: "Die andere Seite ist ein Vergleich:",
    comparisonText: " die ganze Werkzeugliste der eingeschalteten Server, einmal für jede Sitzung, die eine Liste holte. Nicht einmal je Nachricht.",
    counted: "Gezählt mit",
    countedText: (tokenizer) => ` ${tokenizer}. Für andere Modelle ist das eine Schätzung.`,
    notCounted: "Nicht gezählt:",
    notCountedText: " Ergebnisse von Aufrufen; sie sind so oder so gleich.",
    scripts: "Durch Skripte",
    scriptsText: (runs, calls, inside, spent) =>
      `${runs} ${some(runs, "Skript", "Skripte")} mit ${calls} Aufrufen: ${inside} Tokens blieben innen, ${spent} für die Skripte und was sie zurückgaben. Getrennt von den Zahlen oben gezählt.`,
    scriptsCost: "Sie kosteten mehr, als sie fernhielten.",
    scriptLosses: (losses: number) => (losses === 1 ? "Eines davon kostete mehr, als es fernhielt; unter „Aktivität“ ist es bezeichnet." : `${losses} davon kosteten mehr, als sie fernhielten; unter „Aktivität“ sind sie bezeichnet.`),
    days: "Tage sind Kalendertage dieses Computers.",
    empty: "Noch nichts zu vergleichen",
    emptyText: "Sobald ein Client Satchel benutzt, steht hier, was ihre Sitzungen kosteten und ohne Satchel gekostet hätten.",
    sharing: "Durch gemeinsame Server",
    sharingText: (processes, memory, time, most) =>
      `Im Mittel ${processes} ${processes === "1" ? "Prozess" : "Prozesse"} und ${memory} Speicher weniger, in ${time}, in denen Server liefen. Höchstens ${most} ${most === "1" ? "Prozess" : "Prozesse"} weniger.`,
    avoidedText: (processes, memory) => `In diesem Augenblick ${processes} ${processes === "1" ? "Prozess" : "Prozesse"} und ${memory} Speicher weniger, als wenn jeder Client seine eigenen Server startete.`,
  },

  skills: {
    title: "Skills",
    beside: "Deine, für jeden Agenten",
    addFolder: "Ordner hinzufügen",
    addArchive: "Archiv hinzufügen",
    replace: "Ersetzen",
    added: (name) => `${name} ist aufgenommen. Noch hat ihn kein Agent.`,
    addedWithout: (name, left) => `${name} ist aufgenommen, ohne ${left}. Noch hat ihn kein Agent.`,
    empty: "Noch keine Skills",
    emptyText: "Ein Skill ist ein Ordner mit einer SKILL.md. Satchel bewahrt eine Kopie auf und gibt sie den Agenten, die du ankreuzt, jedem in seinen eigenen Ordner.",
    choose: "Wähle einen Skill, um zu sehen, was darin steht und wer ihn hat.",
    unused: "Kein Agent hat ihn",
    look: "Sieh nach",
    size: (files, bytes) => `${files} ${some(files, "Datei", "Dateien")}, ${bytes} Byte`,
    from: (from) => `Aus ${from}`,
    agents: "Agenten",
    noAgents: "Satchel hat auf diesem Computer keinen Agenten gefunden, dessen Ordner für Skills bekannt ist.",
    own: (folder) => `${folder} ist nicht von Satchel und bleibt, wie er ist.`,
    changed: (agent) => `Ein anderes Programm hat geändert, was ${agent} hat`,
    changedText: "Satchel ersetzt und entfernt es nicht.",
    leave: "Es gehört jetzt mir",
    left: (agent) => `${agent} behält ihn als deinen eigenen.`,
    older: "Dort liegt der frühere.",
    renew: "Den neuen geben",
    gone: "Ein anderes Programm hat ihn entfernt.",
    through: (agent) => `Er liest auch den Ordner von ${agent} und würde ihn doppelt zeigen.`,
    given: (name, agent) => `${agent} hat ${name} ab der nächsten Sitzung.`,
    taken: (name, agent) => `${name} wurde aus ${agent} entfernt.`,
    removed: (name) => `${name} wird nicht mehr aufbewahrt.`,
    remove: "Entfernen",
    content: "Was darin steht",
    contentNew: "Was darin steht · noch nicht geprüft",
    reviewTitle: (name, agent) => `${name} an ${agent} geben?`,
    reviewText: (agent) => `Lies ihn zuerst: ${agent} tut, was darin steht, mit allem, was ${agent} darf.`,
    give: "Geben",
    cancel: "Abbrechen",
    runs: (command) => `Manche Agenten führen beim Laden Befehle aus, als ersten: ${command}`,
    permits: (fields) => `Manche Agenten beachten diese Felder, die Werkzeuge erlauben oder Programme ausführen: ${fields}`,
    programs: (files) => `Er enthält Programme, die Agenten ausführen können: ${files}`,
    program: ", ein Programm",
    noText: ", kein Text",
    bytes: (bytes) => `${bytes} Byte`,
    caption: (path) => `In ${path} steht:`,
    cut: "Es geht noch weiter. Öffne die Datei, um den Rest zu lesen.",
  },
  clients: {
    window: "Satchel-Fenster",
    copySnippet: "Kopieren",
    title: "Clients",
    beside: "Programme, die deine Server benutzen",
    copySetup: "Anderen Client verbinden",
    connectAll: (count) => `Alle ${count} verbinden`,
    list: "Clients",
    groups: { "needs-you": "Braucht dich", waiting: "Wartet", connected: "Verbunden", found: "Nicht verbunden" },
    connected: (ago) => `Verbunden · letzte Anfrage ${ago}`,
    called: (tool, ago) => `Verbunden · ${tool} ${ago}`,
    never: "Verbunden · noch kein Werkzeug benutzt",
    unseen: "Verbunden · seit Satchels Start nicht gesehen",
    after: (english) => after[english] ?? english,
    nothing: "Nichts weiter",
    reason: (english) => `${reasons.reduce((said, [of, german]) => said.replace(of, german), `${english}`)}.`,
    added: "Eingetragen · wartet auf die erste Anfrage",
    lastStep: "Ein letzter Schritt",
    reopen: (name) => `Beende ${name} und öffne es neu.`,
    gone: "Satchels Eintrag ist aus den Einstellungen verschwunden",
    edited: "Satchels Eintrag wurde geändert",
    oldAddress: "Hat die alte Adresse von Satchel",
    movedTitle: (count, address) => `${count} ${some(count, "Client hat", "Clients haben")} noch eine andere Adresse als ${address}`,
    movedAgain: (count) => (count === 1 ? "Neu verbinden" : `${count} neu verbinden`),
    movedDone: (count) => `${count} ${some(count, "Client ist", "Clients sind")} mit der neuen Adresse verbunden.`,
    unreadable: "Seine Einstellungen sind nicht lesbar",
    // The place helps; what the parser calls the fault is English.
    fault: (why) => why.replace(/line (\d+), column (\d+): .*/s, "Zeile $1, Spalte $2"),
    line: (written) => written.replace("made when you connect", "entsteht beim Verbinden"),
    unreadableText: "Berichtige die Datei und verbinde ihn dann hier. In die Datei wurde nichts geschrieben.",
    found: "Auf diesem Computer gefunden",
    twice: (count) => `${count} doppelt geladen`,
    twiceTitle: (count) => `${count} Server ${some(count, "wird", "werden")} doppelt geladen`,
    twiceText: (name, servers) => `${name} startet ${servers} noch selbst.`,
    move: "In Satchel holen",
    moveText: (name: string) => `Nimmt sie aus den Einstellungen von ${name}. Genutzt werden sie dann über Satchel.`,
    moved: (servers: string, count: number) => (count > 3 ? `${count} Server sind jetzt nur noch in Satchel.` : `Jetzt nur noch in Satchel: ${servers}`),
    movedText: (name: string) => `Öffne ${name} neu, damit es seine eigenen beendet.`,
    moveBack: "Zurücklegen",
    connect: "Verbinden",
    connectNamed: (name) => `${name} verbinden`,
    putBack: "Wieder eintragen",
    reconnect: "Neu verbinden",
    undo: "Trennen",
    undoText: "Nimmt Satchels Eintrag wieder aus seiner Datei.",
    undone: (name) => `${name} ist, wie es war.`,
    movedBack: "Sie sind wieder beim Client.",
    didConnect: (name) => `${name} hat Satchels Eintrag.`,
    writes: "Was Verbinden schreibt",
    copyInstead: "Lieber kopieren",
    copyPath: "Pfad der Einstellungsdatei kopieren",
    promises: [
      "Nur diese Zeilen. Kommentare, Reihenfolge und Abstände bleiben.",
      "Vorher wird eine Kopie aufbewahrt. Rückgängig stellt genau diese Datei wieder her.",
      "Der Schlüssel gilt nur für diesen Client. Du kannst ihn jederzeit zurücknehmen.",
    ],
    requests: "Anfragen",
    lastSeen: "Letzte Anfrage",
    lastCall: "Letztes Werkzeug",
    sees: "Sieht",
    surface: "Wie er Werkzeuge sieht",
    surfaces: { auto: "Automatisch", router: "Vier Werkzeuge, die die anderen finden", script: "Ein Werkzeug, das Skripte ausführt, und eines, das findet, was sie aufrufen", direct: "Jedes Werkzeug direkt" },
    surfaceShort: { auto: "Automatisch", router: "Vier Werkzeuge", script: "Skripte", direct: "Jedes Werkzeug" },
    seesServers: (shown: number, of: number) => (shown === of ? "Alle eingeschalteten Server sind zu sehen." : `${shown} von ${of} ${some(of, "eingeschalteten Server ist", "eingeschalteten Servern sind")} zu sehen.`),
    showsServer: (server: string, client: string) => `${client} sieht ${server}`,
    showsTool: (tool: string, client: string) => `${client} sieht ${tool}`,
    someTools: (shown: number, of: number) => (shown !== of ? `${shown} von ${of} ${some(of, "Werkzeug", "Werkzeugen")}` : of === 1 ? "Sein einziges Werkzeug" : `Alle ${of} Werkzeuge`),
    choose: "Wähle einen Client, um zu sehen, wie er verbunden ist.",
    takesOut: "Was aus seinen Einstellungen herausgenommen wird",
    looked: (count) => `Nach ${count} ${some(count, "Client", "Clients")} gesucht.`,
    notListed: "Nicht in der Liste?",
    empty: "Noch hat kein Client etwas gefragt",
    emptyText: "Verbinde einen Client mit einem eigenen Schlüssel. Mit seiner ersten Anfrage erscheint er hier.",
    setup: {
      title: "Anderen Client verbinden",
      name: "Sein Name",
      placeholder: "mein-editor",
      make: "Schlüssel machen",
      text: "Der Schlüssel wird einmal gezeigt. Wer ihn hat, kann deine Server von diesem Computer aus benutzen.",
      snippet: "Füge das in seine MCP-Einstellungen ein",
      badName: "Kleinbuchstaben, Ziffern und Bindestriche.",
      done: "Fertig",
      copied: "Kopiert. Der Schlüssel wird nicht noch einmal gezeigt.",
    },
    sessions: (count) => `${count} ${some(count, "Anfrage", "Anfragen")}`,
  },

  remark: (one) => {
    switch (one.code) {
      case "renamed":
        return `der Name „${one.given}“ wurde zu „${one.name}“, denn ${one.because?.map(nameFault).join(" und ")}`;
      case "needs_secret":
        return `braucht ${one.name}, bevor er starten kann`;
      case "needs_variable":
        return `braucht ${one.name}; setze es in der Umgebung, in der Satchel gestartet wird`;
      case "env_file":
        return `„envFile“ blieb weg: Satchel liest die Variablen in ${one.file} nicht; schreib die nötigen in „env“ des Eintrags, Geheimnisse als \${secret:NAME}`;
      case "other_sandbox":
        return `${fields(one.fields)} ${some(one.fields.length, "blieb", "blieben")} weg, er läuft hier also ohne jene Sandbox; Satchels eigene ist „sandbox“: true im Eintrag`;
      case "not_taken":
        return `${fields(one.fields)} ${some(one.fields.length, "blieb", "blieben")} weg; setze es in der Konfiguration, wenn du es hier willst`;
      case "holds_secret":
        return `${fields(one.fields)} ${some(one.fields.length, "blieb", "blieben")} weg, weil ein Geheimnis darin steht; schreib es mit \${secret:NAME} in den Eintrag, dann fragt die Seite des Servers nach dem Wert`;
      case "no_effect":
        return `${fields(one.fields)} ${some(one.fields.length, "hat", "haben")} in Satchel keine Wirkung`;
      case "app_secret":
        return "das Geheimnis seiner App blieb weg; gib es auf der Seite des Servers ein";
      case "agent_switches":
        return "einzelne Agenten haben dort Werkzeuge von ihm an oder aus; hier ist jedes Werkzeug für alle an oder aus";
      case "off_with_more":
        return `„${one.tool}“ ist hier aus, weil dort „${one.with}“ aus ist`;
      case "of_windows":
        return "sein Befehl ist einer von Windows; er läuft hier ohne diese Hülle";
      case "whole_line":
        return "seine ganze Befehlszeile stand in „command“; was auf das Programm folgt, steht hier in „args“";
      case "address_as_command":
        return "sein „command“ war eine Adresse; Satchel verbindet sich damit und startet nichts";
      case "control_characters":
        return `in ${one.fields.join(", ")} steht ein Steuerzeichen, wie der Tabulator, den „\\t“ bedeutet; ist es ein Pfad von Windows, schreib jeden Rückstrich doppelt`;
      case "unfilled":
        return `${one.fields.join(", ")} ${some(one.fields.length, "hat", "haben")} hier keinen Wert; was nur daraus bestand, blieb weg`;
      case "plain_sign_ins":
        return `${one.who} bewahrt Anmeldungen im Klartext in ${one.file} auf, was Satchel nicht liest; melde dich dort ab, sobald du hier angemeldet bist`;
    }
  },
  remarks: "Bevor diese Server starten",
  caution,
  rest: async () => {
    refusals ??= await import("./refusals");
    read();
  },
  rule: ({ rule, usual, consent }) => {
    const own = consent ? rule.slice(0, rule.lastIndexOf("; ")) : rule;
    const decided = !usual ? own : usual.tools === "every" ? usualTools.every : `${usualTools[usual.tools]}: ${usualPermits[usual.permit]}`;
    return consent ? `${decided}; ${consents[consent]}` : decided;
  },
  refused: ({ code, message, action, why = [] }) => {
    // Said in parts, with what to do in the last of them.
    if (why.length > 0) return [why.map(caution).join("; "), acts[code] ?? ""];
    return refusals?.refusal(code, message, action, de.remedy[code]) ?? [message, action];
  },
  noticed,

  welcome: {
    step: (step) => `Schritt ${step} von 3`,
    skip: "Später einrichten",
    back: "Zurück",
    one: {
      stayed: (place) => `${place} wurde nicht mitgenommen`,
      unread: (place) => `Nicht gelesen: ${place}`,
      elsewhere: "Wählen, wo Zugangsdaten aufbewahrt werden",
      title: "Diese Server sind schon auf deinem Computer",
      text: "Satchel führt sie für jeden Client aus. Ohne den Knopf wird nichts geschrieben.",
      titleNone: "Beginne mit ein paar Servern",
      titleMore: "Füge noch ein paar Server hinzu",
      textMore: "Deine Clients haben keine weiteren. Diese hier brauchen kein Konto, und mehr stehen im Katalog.",
      textNone: "Kein Client auf diesem Computer hat schon welche. Diese hier brauchen kein Konto, und mehr stehen im Katalog.",
      from: (client) => `Aus ${client}`,
      all: "Alle",
      none: "Keinen",
      allFrom: (client) => `Alle aus ${client}`,
      noneFrom: (client) => `Keinen aus ${client}`,
      same: (names) => `Auch in ${names}`,
      here: "Schon in Satchel",
      secret: (count) => `${count} Schlüssel in der Datei gefunden. Satchel kopiert ${some(count, "ihn", "sie")} in deinen Schlüsselbund; die Datei behält ${some(count, "ihn", "sie")}, bis du den Server aus ihr herausnimmst.`,
      off: "Dort ausgeschaltet",
      needs: (runtime) => `Braucht ${runtime}`,
      bring: (count) => (count === 0 ? "Weiter" : `${count} ${some(count, "Server", "Server")} mitnehmen`),
      add: (count) => (count === 0 ? "Weiter" : `${count} ${some(count, "Server", "Server")} hinzufügen`),
      empty: "Leer beginnen",
      without: (count) => `Ohne ${some(count, "ihn", "sie")} weiter`,
      busy: "Wird hinzugefügt…",
    },
    two: {
      title: "Verbinde die Clients, mit denen du arbeitest",
      text: "Jeder bekommt einen Eintrag und einen eigenen Schlüssel. Jede Änderung kannst du vorher ansehen.",
      none: "Keiner der Clients, die Satchel kennt, wurde gefunden. Jeden anderen kannst du von Hand verbinden.",
      see: "Änderung ansehen",
      hide: "Änderung verbergen",
      takeOut: "Diese Server aus den Einstellungen der Clients nehmen",
      takeOutText: "Sonst läuft jeder von ihnen doppelt. Du kannst das zurücknehmen.",
      login: "Satchel beim Anmelden starten",
      loginText: "Im Infobereich, ohne Fenster.",
      updates: "Einmal am Tag nach neuen Versionen von Satchel sehen",
      updatesText: "Nichts über dich wird gesendet. In den Einstellungen kannst du das ändern.",
      connect: (count) => (count === 0 ? "Weiter" : `${count} ${some(count, "Client", "Clients")} verbinden`),
      busy: "Wird verbunden…",
      undoAll: "Alles rückgängig",
      unreadable: (why) => `Diese Datei ist nicht zu lesen${why ? `: ${why}` : ""}. Berichtige sie und verbinde ihn dann unter Clients.`,
    },
    three: {
      title: "Bitte einen davon, ein Werkzeug zu benutzen",
      text: "Füge das in einen deiner Clients ein. Fertig bist du, wenn ein echter Aufruf ankommt.",
      sentence: (server) => `Finde mit Satchel heraus, was ${server} kann, und probiere es aus.`,
      sentenceNone: "Sag mir, welche Werkzeuge du über Satchel hast.",
      sentenceTime: "Sag mir mit Satchel, wie spät es in Tokio ist.",
      copy: "Kopieren",
      waiting: "Wartet auf seine erste Anfrage",
      hello: (ago) => `Hat sich ${ago} gemeldet. Noch kein Werkzeug benutzt`,
      worked: (tool, server) => `${tool} in ${server} hat funktioniert`,
      byHand: "Noch ist kein Client verbunden. Verbinde hier einen, oder gib deinem die Adresse von Hand:",
      byHandDo: "Client verbinden",
      orHere: "Kein Client zur Hand?",
      here: "current_time hier ausführen",
      done: "Es funktioniert",
      doneText: "Von nun an bleibt Satchel im Infobereich und braucht nichts von dir.",
      doneRest: "Von nun an bleibt Satchel im Infobereich. Was unten noch offen ist, kann warten.",
      alone: "Hier funktioniert es",
      aloneText: "Satchel funktioniert. Öffne als Nächstes einen deiner Clients und lass ihn ein Werkzeug benutzen: Füge das dort ein.",
      unfinished: "Noch offen",
      open: "Satchel öffnen",
      later: "Später fertig machen",
      stays: "Satchel bleibt im Infobereich, wenn du dieses Fenster schließt.",
    },
  },

  prompt: {
    window: "Satchel fragt",
    space: "Die Eingabetaste wählt hier nichts, damit beim Tippen nichts erlaubt wird. Drücke die Leertaste.",
    queue: (at, of) => `${at} von ${of}`,
    wants: (client, what) => `${client} möchte ${what} ausführen`,
    says: {
      reads: (server) => `${server} sagt, dass dieses Werkzeug nichts ändert.`,
      writes: (server) => `${server} sagt, dass dieses Werkzeug etwas ändert.`,
      deletes: (server) => `${server} sagt, dass dieses Werkzeug etwas löschen oder überschreiben kann.`,
      unstated: (server) => `${server} sagt nicht, was dieses Werkzeug tut.`,
    },
    seems: {
      reads: "Dem Namen nach ändert es nichts. Sein Server sagt dazu nichts.",
      writes: "Dem Namen nach ändert es etwas. Sein Server sagt nicht, was es tut.",
      deletes: "Dem Namen nach kann es etwas löschen. Sein Server sagt nicht, was es tut.",
    },
    because: (rule) => `Gefragt wird wegen dieser Regel: ${rule}`,
    mute: "Nein, nicht mehr fragen",
    tool: "Werkzeug",
    whole: "Ganzes JSON",
    again: (tool) => `In dieser Sitzung nicht mehr nach ${tool} fragen`,
    refuse: "Nicht erlauben",
    allow: "Einmal erlauben",
    saysNo: (time) => `Sagt in ${time} von selbst nein`,
    kinds: {
      form: (server) => `${server} fragt dich etwas`,
      secret: (server) => `${server} fragt nach einem Geheimnis`,
      credential: (server) => `${server} braucht Zugangsdaten`,
      page: (server) => `${server} möchte eine Seite öffnen`,
    },
    whileIn: (tool, client) => `in ${tool}, aufgerufen ${client === "Satchel-Fenster" ? "vom" : "von"} ${client}`,
    whileFor: (client) => `während es für ${client} arbeitet`,
    writes: (server) => `${server} schreibt:`,
    given: (client, server) => `Was ${client} schickt, unter den Namen, die ${server} gibt:`,
    choose: "Bitte wählen",
    yes: "Ja sagen",
    secretFields: (fields) => `Gefragt war: ${fields}.`,
    bounds: {
      text: (min, max) => between(min, max, "Zeichen"),
      number: (min, max) => between(min, max, ""),
      several: (min, max) => between(min, max, "zur Wahl"),
    },
    goes: (server) => `Was du sendest, geht an ${server} und an das Modell. Satchel gibt Passwörter und Schlüssel nie so weiter.`,
    secret: (server) => `${server} hat nach etwas gefragt, das wie ein Geheimnis aussieht. Satchel gibt Geheimnisse nicht so weiter.`,
    optional: "freiwillig",
    send: (server) => `An ${server} senden`,
    decline: "Ablehnen",
    cancelCall: "Aufruf abbrechen",
    linkText: "Satchel hat sie nicht angesehen.",
    open: (host) => `${host} öffnen`,
    escaped: "Verborgene Zeichen sind ausgeschrieben.",
    missing: (field) => `${field} wird gebraucht.`,
  },

  renewed: "Die Seite des Fensters war zu Ende und wurde neu gemacht. Satchel lief weiter.",
  close: "Schließen",
  consent: {
    runs: "Was läuft",
    between: (_characters, shown) => `… ${shown} Zeichen dazwischen …`,
    betweenItems: (_items, shown, characters) => `… ${shown} weitere dazwischen, ${characters} Zeichen …`,
    breaks: (_count, shown) => `${shown} Zeilenumbrüche`,
    spaces: (_count, shown) => `${shown} Leerzeichen`,
    below: "Weiter unten steht noch mehr. Lies erst bis zum Ende.",
    toEnd: "Ende zeigen",
  },
  add: {
    fromFile: "Aus einer Datei hinzufügen",
    asks: {
      paste: "Aus dem eingefügten Text",
      link: "Darum bittet ein Link. Satchel weiß nicht, welche Seite oder Person ihn gemacht hat.",
      file: "Darum bittet diese Datei",
    },
    linkSentence: "Er kommt ausgeschaltet dazu. Nichts davon startet, bevor du ihn einschaltest.",
    addOff: "Ausgeschaltet hinzufügen",
    unknown: "Das ist nicht als Server erkennbar.",
    choose: (count) => `${count} Server. Wähle, welche dazukommen.`,
    all: (count) => `Alle ${count} wählen`,
    more: (waiting) => (waiting === 1 ? "1 weiterer Link wartet, bis dieser beantwortet ist." : `${waiting} weitere Links warten, bis dieser beantwortet ist.`),
    moves: (names) => `Kommt in deinen Schlüsselbund: ${names}`,
    reaches: "Kann erreichen:",
    fileEmpty: "In dieser Datei ist kein Server beschrieben.",
    fileKnown: (name) => `ist schon hinzugefügt, als ${name}`,
    lookalikes: (letters) => `Nicht alles darin ist, wonach es aussieht: ${letters}`,
    title: "Server hinzufügen",
    label: "Befehl, Adresse oder mcpServers-Block",
    resolves: "Die Version ist nicht festgelegt: Jeder erste Start kann eine neuere holen.",
    placeholder: "npx -y @modelcontextprotocol/server-filesystem ~/work",
    hint: "Füge eine Befehlszeile, eine Adresse oder den JSON- oder TOML-Block aus einer Anleitung ein.",
    name: "Name",
    runs: "Läuft auf diesem Computer",
    connects: "Verbindet sich mit",
    reach: "Er kann alles, was dein Benutzerkonto kann.",
    environment: "Mit",
    exists: (name) => `Es gibt schon einen Server namens ${name}.`,
    replace: "Ersetzen",
    badName: "Ein Name hat 1 bis 64 Zeichen und keines von : | / \\",
    cancel: "Abbrechen",
    confirm: (count) => (count === 1 ? "Server hinzufügen" : `${count} Server hinzufügen`),
    adding: "Wird hinzugefügt…",
    done: (names) => `${names} hinzugefügt.`,
  },

  settings: {
    title: "Einstellungen",
    sectionList: "Abschnitte der Einstellungen",
    sections: { general: "Allgemein", window: "Fenster, Tray", credentials: "Zugangsdaten", history: "Verlauf", setup: "Andere Computer", doctor: "Diagnose", about: "Info" },
    setup: {
      export: "Einrichtung exportieren",
      exportDo: "Exportieren…",
      exportText: "Server, Profile, Regeln und Einstellungen in einer Datei",
      exportLong: "Alles, was du eingerichtet hast, kommt in eine Datei: Server, Profile, Regeln, Einstellungen und was du für Clients gewählt hast. Zugangsdaten bleiben hier, wenn du sie nicht mitnimmst.",
      withSecrets: "Zugangsdaten mitnehmen, mit einer Passphrase verschlüsselt",
      passphrase: "Passphrase",
      passphraseText: "Nimm mindestens acht Zeichen, am besten mehrere Wörter. Ohne sie kann niemand die Zugangsdaten öffnen, auch du nicht.",
      passphraseAgain: "Passphrase wiederholen",
      passphraseDiffers: "Die beiden sind nicht gleich.",
      wrote: (servers: number, others: number, secrets: number) =>
        `Exportiert: ${servers} ${some(servers, "Server", "Server")}, ${others} ${some(others, "weiterer Teil", "weitere Teile")}, ${secrets === 0 ? "keine Zugangsdaten" : `${secrets} ${some(secrets, "Zugangsdatum", "Zugangsdaten")}`}.`,
      leftOut: (what: string, why: string) => `Ausgelassen: ${what}. ${why}`,
      import: "Einrichtung importieren",
      importDo: "Importieren…",
      importText: "Unterschiede ansehen, dann auswählen",
      follow: "Einem Ordner folgen",
      followText: "Deine Computer zeigen einander ihre Einrichtung in einem Ordner, den du synchronisierst. Ohne dein Ja wird nichts übernommen.",
      choose: "Auswählen…",
      stopDo: "Beenden",
      follows: (folder: string) => `Satchel folgt ${folder}`,
      followsNone: "Satchel folgt keinem Ordner.",
      others: "In diesem Ordner",
      alone: (computer: string) => `Dort hat noch kein anderer Computer geschrieben. Dieser heißt ${computer}.`,
      differs: (count: number) => (count === 0 ? "Wie hier" : `${count} ${some(count, "Teil ist", "Teile sind")} anders`),
      look: "Ansehen…",
      lookAt: (computer: string) => `${computer} ansehen`,
      reviewOf: (computer: string) => `Einrichtung von ${computer}`,
      reviewText: (same: number) => `Wähle aus, was du übernimmst. ${same} ${some(same, "Teil ist", "Teile sind")} gleich.`,
      asks: { file: "Diese Datei bittet um diese Änderungen", computer: (name) => `Die Einrichtung von ${name} unterscheidet sich von dieser` },
      loosens: {
        toolRules: "Diese Regeln entscheiden, welche Werkzeuge ohne Frage laufen.",
        toolDefaults: "Diese Vorgaben entscheiden, welche Werkzeuge ohne Frage laufen.",
        newServers: "Das entscheidet, was neue Server dürfen, bevor du sie angesehen hast.",
        registries: "Von diesen Adressen werden Server gefunden, installiert und erneuert.",
        otlpEndpoint: "Spuren aller Aufrufe gehen an diese Adresse.",
        embedding: "Wonach gesucht wird, geht an diesen Dienst.",
        pictures: "Satchel holt Bilder von Adressen, die Server nennen.",
        activeProfile: "Es entscheidet, welche Server und Werkzeuge Clients sehen.",
        folderProfiles: "Es entscheidet, welche Server und Werkzeuge Clients in diesen Ordnern sehen.",
      },
      nothing: "Nichts ist anders als hier.",
      parts: { server: "Server", profile: "Profil", setting: "Einstellung", client: "Client", secrets: "Versiegelt:" },
      settings: {
        history: "Verlauf",
        otlpEndpoint: "Ziel für Traces",
        embedding: "Embedding-Dienst",
        search: "Suche",
        resultCap: "Längstes Ergebnis",
        toolRules: "Regeln für Werkzeuge",
        toolDefaults: "Vorgaben für Werkzeuge",
        newServers: "Neue Server",
        registries: "Verzeichnisse",
        pictures: "Bilder von Servern",
        activeProfile: "Aktives Profil",
        folderProfiles: "Profile von Ordnern",
      } as Record<string, string>,
      standings: { new: "Neu", changed: "Dort geändert", removed: "Dort entfernt", conflict: "Konflikt" },
      different: "Anders",
      unsealText: "Öffnet die Zugangsdaten in der Datei. Ohne sie fragt Satchel danach, wenn sie gebraucht werden.",
      take: (count: number) => `${count} ${some(count, "Teil", "Teile")} übernehmen`,
      keep: "Unsere behalten",
      took: (count: number) => `${count} ${some(count, "Teil", "Teile")} übernommen.`,
      wentBack: "Die Einrichtung ist wie zuvor.",
      kept: (count: number) => `${count} ${some(count, "Teil bleibt", "Teile bleiben")} wie hier.`,
    },
    doctor: {
      title: "Diagnose",
      looking: "Alles wird geprüft…",
      summary: (wrong, notes) =>
        wrong === 0 && notes === 0
          ? "Alles ist, wie es sein soll."
          : [wrong === 0 ? "" : `${wrong} ${some(wrong, "Sache geht", "Sachen gehen")} nicht`, notes === 0 ? "" : `${notes} ${some(notes, "Hinweis", "Hinweise")}`].filter(Boolean).join(", ") + ".",
      again: "Erneut prüfen",
      verdicts: { fine: "in Ordnung", note: "Hinweis", wrong: "geht nicht" },
      found: diagnosis,
      act: cure,
      about: {
        configuration: (subject) => (subject === "rules" ? "Regeln für Werkzeuge" : "Konfigurationsdatei"),
        search: () => "Suche",
        hub: () => "Hub",
        port: () => "Port",
        search_path: () => "Suchpfad für Programme",
        runtime: (program) => `Programm ${program}`,
        secrets: () => "Zugangsdaten",
        client: (name) => name,
        profile: (name) => `Profil ${name}`,
        folder: (folder) => `Ordner ${folder}`,
        server: (name) => `Server ${name}`,
      },
      show: "Zeigen",
      goTo: (what) => `${what} zeigen`,
    },
    login: "Beim Anmelden starten",
    loginText: "Startet im Infobereich, ohne Fenster",
    updates: {
      title: "Neue Versionen von Satchel",
      text: "Sieht einmal am Tag nach. Nichts über dich wird gesendet.",
      looking: "Wird nachgesehen…",
      newest: (when) => `Das ist die neueste Version, Stand ${when}.`,
      newer: (version) => `Satchel ${version} ist erschienen.`,
      ready: (version) => `Satchel ${version} wird beim Beenden installiert.`,
      waiting: (version) => `Satchel ${version} wird installiert, sobald kein Aufruf läuft und keine Frage wartet.`,
      takenBack: (version) => `Satchel ${version} ist hier nicht gestartet; die Version davor ist wieder da.`,
      lookNow: "Jetzt nachsehen",
      install: "Installieren und neu starten",
      notes: "Was neu ist",
      how: {
        itself: "",
        apt: "Lade das neue .deb herunter und installiere es mit „sudo apt install ./DATEI“.",
        rpm: "Lade das neue .rpm herunter und installiere es mit „sudo dnf install ./DATEI“.",
        pacman: "Aktualisiere satchel-bin so, wie du es aus dem AUR installiert hast.",
        nix: "Aktualisiere den Flake, der Satchel bringt, und baue neu.",
        homebrew: "Führe „brew upgrade --cask satchel“ aus.",
        scoop: "Führe „scoop update satchel“ aus.",
        hand: "Ersetze es so, wie du es installiert hast.",
      },
    },
    notifications: "Benachrichtigungen",
    notificationsText: "Wenn eine Frage wartet, ein Server dich braucht oder eine Änderung zurückgehalten wird.",
    notifies: { all: "Alle", questions: "Fragen", none: "Keine" },
    pictures: "Bilder von Servern",
    picturesText: "Werden von der Adresse geholt, die ein Server für sein Symbol nennt. Ausgeschaltet wird nichts geholt.",
    closing: "Wenn das Fenster geschlossen wird",
    closingText: "Ohne Fenster geht es weiter, oder alle Server enden.",
    closings: { serve: "Weiter", quit: "Beenden" },
    tray: "Symbol im Infobereich",
    trayText: "Ohne es öffnet ein neuer Start von Satchel das Fenster.",
    appearance: "Aussehen",
    themes: { system: "System", light: "Hell", dark: "Dunkel" },
    language: "Sprache",
    languages: { system: "System", en: "English", de: "Deutsch" },
    history: {
      title: "Verlauf",
      learns: "Aus dem Gebrauch lernen",
      learnsText: "Was nach einer Suche benutzt wurde, wird von ähnlichen Suchen etwas eher gefunden. Das bleibt auf diesem Computer.",
      recordsNothing: "Aufrufe werden nicht aufgezeichnet, darum wird nichts gelernt.",
      learnsOn: "Satchel lernt aus dem Gebrauch.",
      learnsOff: "Satchel lernt nichts mehr, und Gelerntes zählt nicht.",
      forget: "Gelerntes vergessen",
      forgetText: "Aufrufe bleiben im Verlauf",
      forgotten: "Das Gelernte ist vergessen.",
      erase: "Verlauf löschen",
      eraseText: "Jeder Aufruf, was davon behalten wurde, und das Gelernte",
      eraseAsk: "Löschen…",
      eraseSure: "Jeder Aufruf im Verlauf und alles, was aus Suchen gelernt wurde, wird endgültig gelöscht. Summen bleiben, damit die Ersparnis weiter gezeigt werden kann.",
      sums: "Auch die Summen löschen",
      eraseNow: "Löschen",
      deleted: "Der Verlauf ist gelöscht.",
    },
    privacy: "Privates",
    privacyText: "Satchel sendet nirgendwohin etwas über dich. Es hört nur auf diesen Computer.",
    secrets: "Zugangsdaten",
    secretsIn: { keychain: "In deinem Schlüsselbund", file: "In einer verschlüsselten Datei" },
    secretsNone: "Keine gespeichert.",
    forget: "Vergessen",
    forgetNamed: (name) => `${name} vergessen`,
    forgot: (name) => `${name} ist vergessen.`,
    vault: "Kein Schlüsselbund läuft, darum lassen sich Schlüssel nicht sicher aufbewahren",
    vaultLocked: "Die verschlüsselte Datei ist verschlossen",
    vaultText: "Starte einen Schlüsselbund wie gnome-keyring und versuche es noch einmal, oder bewahre Schlüssel in einer Datei auf, die mit einem Passwort verschlüsselt ist. Nach jedem Start wird danach gefragt.",
    passphrase: "Passwort",
    fileInstead: "Stattdessen eine verschlüsselte Datei verwenden",
    fileText: "Für einen Schlüsselbund, der nichts aufbewahrt oder den du nicht verwenden willst. Die Datei ist mit einem Passwort verschlüsselt, nach dem jeder Start fragt. Was im Schlüsselbund liegt, bleibt dort und wird nicht mehr verwendet.",
    useFile: "Verschlüsselte Datei benutzen",
    unlock: "Öffnen",
    again: "Noch einmal nachsehen",
    setUpAgain: "Neu einrichten",
    setUpText: "Server mitnehmen, Clients verbinden, ein Werkzeug probieren",
    open: "Öffnen",
    files: "Dateien",
    configuration: "Konfiguration",
    logs: "Logs",
    copyPath: (what) => `Pfad kopieren: ${what}`,
    about: "Über Satchel",
    version: "Version",
    quit: "Satchel beenden",
    quitText: "Clients verlieren ihre Werkzeuge, und alle Server enden",
    notChanged: "Das wurde nicht geändert.",
  },

  hubCard: {
    stopped: "Satchels Hub ist stehen geblieben",
    stoppedText: "Clients erreichen ihre Werkzeuge nicht.",
    startAgain: "Neu starten",
    held: "Ein anderes Satchel läuft schon",
    heldText: (pid) =>
      `${pid === null ? "Es" : `Prozess ${pid}`} hat diese Server geöffnet, darum kann dieses Fenster sie weder zeigen noch ändern. Clients benutzen es weiter.`,
    heldAt: "Es antwortet unter",
    heldAction: "Beende es (zum Beispiel ein Terminal mit „satchel serve“) und versuche es noch einmal.",
    tryAgain: "Noch einmal",
    copyReport: "Bericht kopieren",
    quit: "Beenden",
  },

  closing: {
    title: "Satchel läuft weiter",
    clients: (count) => `${count} ${some(count, "Client benutzt", "Clients benutzen")} es.`,
    where: "Ohne Fenster bleibt es im Infobereich, beim Taschensymbol. Dort lässt es sich beenden.",
    noTray: "Wo kein Infobereich zu sehen ist, öffnet ein neuer Start von Satchel das Fenster.",
    quit: "Stattdessen beenden",
    hide: "Fenster schließen",
  },

  cause: ({ code, message, cause }) => {
    if (!refusals) unread();
    // Where a hub tells no parts, the code and its own words.
    return (refusals && cause && refusals.cause(cause)) ?? (refusals && code ? capital(refusals.failure(code, message ?? "")) : (message ?? ""));
  },
  left: ({ reason, cause }) => {
    if (!refusals) unread();
    return (refusals && cause && refusals.leftOut(cause)) ?? reason;
  },

  remedy: {
    unknown_profile: "Wähle ein anderes Profil, oder lege eines mit diesem Namen an.",
    spawn_not_found: "Installiere das Programm, oder gib seinen richtigen ganzen Pfad als Befehl an.",
    runtime_missing: "Installiere es (Node für npx, uv für uvx), oder gib seinen ganzen Pfad als Befehl an.",
    docker_down: "Starte Docker und versuche es dann.",
    stdout_noise: "Sieh dir die fremde Ausgabe im Log an. Oft hilft eine Option wie --quiet oder --stdio.",
    oom_killed: "Schließe etwas, das Speicher braucht, oder gib diesem Server weniger zu tun. Versuche es dann.",
    dns: "Prüfe den Namen in der Adresse und ob dieser Computer online ist.",
    spawn_denied: "Mache die Datei ausführbar, oder berichtige den Befehl.",
    sandbox_unusable: "Berichtige seine Sandbox.",
    dependency_broken:
      "Sein Eintrag kann richtig sein: Eine Bibliothek, die er benutzt, fehlt oder hat sich geändert. Lass eine andere Version von ihm laufen, oder behalte die frühere der Bibliothek.",
    entry_wrong: "Berichtige seinen Eintrag, wie der Grund es sagt.",
    secret_source: "Bring es dort in Ordnung, wo das Geheimnis liegt, oder berichtige den Eintrag. Der nächste Aufruf liest es neu.",
    exited_early: "Lies die letzten Zeilen des Logs und berichtige dann Argumente oder Umgebung.",
    handshake_timeout: "Starte es von Hand, um zu sehen, worauf es wartet. Ein erster Download braucht vielleicht einen zweiten Versuch.",
    handshake_refused: "Prüfe, ob dieses Programm ein MCP-Server ist und seine Argumente stimmen.",
    protocol_version: "Aktualisiere den Server auf einen, der eine heutige Fassung des Protokolls spricht.",
    crashed: "Lies das Log. Beim nächsten Aufruf wird er neu gestartet.",
    list_failed: "Lies das Log. Solange gelten die zuletzt bekannten Werkzeuge.",
    tool_paused: "Warte die genannte Zeit und rufe es dann wieder auf. Das Log sagt, was geschah.",
    needs_credential: "Speichere den Wert, oder setze die Variable.",
    unreachable: "Prüfe die Adresse und das Netz.",
    tls: "Prüfe die Adresse und die Uhr dieses Computers; NODE_EXTRA_CA_CERTS nennt eine Datei mit weiteren Stammzertifikaten, etwa denen einer Firma.",
    http_401: "Setze ein Token in die Kopfzeilen, zum Beispiel Bearer ${secret:NAME}.",
    http_403: "Bitte den Betreiber, es deinem Konto oder dem Token in den Kopfzeilen zu erlauben.",
    http_404: "Prüfe den Pfad der Adresse. Viele Server antworten unter /mcp.",
    http_5xx: "Der Fehler liegt auf der anderen Seite. Beim nächsten Aufruf wird es wieder versucht.",
    keychain_locked: "Öffne den Schlüsselbund und versuche es noch einmal, oder wähle in den Einstellungen eine verschlüsselte Datei.",
    keychain_absent: "Starte einen Schlüsselbund wie gnome-keyring, oder wähle in den Einstellungen eine verschlüsselte Datei.",
    vault_locked: "Öffne sie in den Einstellungen mit ihrem Passwort.",
    config_invalid: "Berichtige die Datei an der genannten Stelle. Ein fehlerhafter Eintrag ist bis dahin aus, alles andere läuft weiter.",
    rule_invalid: "Berichtige sie in der Datei; bis dahin sind Werkzeuge, die sie meinen könnte, aus, oder jeder Aufruf fragt.",
    setting_invalid: "Berichtige sie in der Datei; bis dahin gilt der vorsichtigste Wert.",
    socket_not_opened: "Berichtige seinen Pfad unter „sockets“ in der Konfiguration.",
    port_taken: "Verbinde die Clients neu mit der neuen Adresse, oder mache den Port frei und starte neu.",
    no_tools: "Lies sein Log und seine Anleitung. Viele Server bieten erst mit einem Argument oder Zugang etwas an.",
    offline: "Verbinde diesen Computer mit einem Netz. Beim nächsten Aufruf wird es wieder versucht.",
    oauth_discovery: "Prüfe die Adresse. Wenn sie stimmt, setze statt der Anmeldung ein Token in die Header.",
    needs_sign_in: "Melde dich auf seiner Seite in Satchel an.",
    needs_more_rights: "Erlaube es im Browser, wenn du es willst.",
    needs_client_id: "Lege beim Anbieter eine App an und gib ihre Client-ID ein.",
    oauth_refused: "Lies den Grund. Wer die Prüfungen nicht bestand, hat nichts bekommen.",
    oauth_denied: "Melde dich noch einmal an und erlaube es im Browser.",
    oauth_refresh: "Es wird von selbst wieder versucht. Du bist noch angemeldet.",
    oauth_callback_timeout: "Melde dich noch einmal an und schließe das im Browser innerhalb von fünf Minuten ab.",
    deleted: "Entferne es, oder entscheide, dass es weiterlaufen darf.",
    held_back: "Sieh dir auf der Seite des Servers an, was neu ist, und gib es dort frei.",
    denied: "Es geht ohne, oder ein Mensch ruft es selbst auf oder ändert die Regel in „toolRules“.",
    setup_differs: "Sieh dir an, was anders ist, und wähle aus, was du übernimmst. Vorher ändert sich nichts.",
    settings_held: "Sieh dir an, was anders ist, und übernimm es, wenn du es geschrieben hast.",
    approvals_lost: "Sieh dir seine Werkzeuge auf seiner Seite noch einmal an. Bis dahin bleiben sie zurückgehalten.",
    ledger_unusable: "Aufrufe gehen wie zuvor. Sieh nach, ob der Datenträger voll ist und ob Satchel in sein Datenverzeichnis schreiben darf.",
    set_aside: "Nichts. Es wurde neu aufgebaut. Die beschädigte Kopie liegt daneben.",
  },

  remedyHosted: {
    handshake_timeout: "Prüfe, ob die Adresse stimmt und der Dienst antwortet. Dann versuche es jetzt.",
    handshake_refused: "Prüfe, ob die Adresse die eines MCP-Servers ist.",
    exited_early: "Prüfe die Adresse und das Netz.",
    crashed: "Beim nächsten Aufruf wird neu verbunden.",
  },
};

/** From how many to how many; nothing where there are no bounds. */
function between(min: number | null, max: number | null, what: string): string {
  if (min === null && max === null) return "";
  const range = min === null ? `höchstens ${max}` : max === null ? `mindestens ${min}` : min === max ? `${min}` : `${min} bis ${max}`;
  return `${range} ${what}`.trim();
}
