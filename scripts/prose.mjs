// Checks what `make lint` checks besides code: links in documents lead somewhere, each page of docs/ begins with whom it is for and is in
// the index, documents name no command, option or target that is not there and use no phrase that the glossary avoids, each finding has
// a row with tests that exist, each crate names a test to copy, and subjects of commits that are not on main yet are short and
// imperative. Looks at no address outside the repository. The glossary of code is tests/suite/floors/glossary.rs.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The longest subject, in characters. */
const LONGEST = 72;
/** First words of a subject that are no imperative but look like a verb. */
const NOT_IMPERATIVE = /^(?:(?:a|an|the|this|that|it|now|no|all|each|every|when|where|what)\b|\w+(?:ed|ing)\b)/i;
/** Imperatives that end like those. */
const IMPERATIVE = new Set(["bring", "embed", "exceed", "feed", "need", "ping", "proceed", "seed", "shed", "speed", "spring", "string", "swing", "wed", "wring"]);

/** Phrases that documents avoid, and what to write in their place. */
const AVOIDED = [
  [/\b(?:nobody|somebody|whoever)\b/i, "who it is: you, a person, a program"],
  [/\bis none\b/i, "what it is not"],
  [/\bwhat of\b/i, "a sentence with a verb"],
  [/\bgives? way\b/i, "who is refused or replaced"],
  [/\b(?:is|are) told of\b/i, "who sees or reads it"],
];

/** Headings as anchors, the way forges make them: lower case, spaces as hyphens, other signs left out. */
export function anchors(text) {
  const seen = new Map();
  const found = new Set();
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    found.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return found;
}

/** What a document links to, without addresses of the web. */
export function links(text) {
  const all = [...withoutCode(text).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, target]) => target);
  return all.filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

function withoutCode(text) {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, (code) => (code.includes("](") ? "" : code));
}

/** What is wrong with the links of the documents below `root`. */
export function brokenLinks(root, documents) {
  const wrong = [];
  for (const document of documents) {
    const text = readFileSync(join(root, document), "utf8");
    for (const link of links(text)) {
      const [path, anchor] = link.split("#");
      const target = path === "" ? document : relative(root, join(root, dirname(document), decodeURIComponent(path)));
      if (!existsSync(join(root, target))) wrong.push(`${document}: ${link} leads nowhere`);
      else if (anchor && target.endsWith(".md") && !anchors(readFileSync(join(root, target), "utf8")).has(anchor))
        wrong.push(`${document}: ${link}: ${target} has no heading of that name`);
    }
  }
  return wrong;
}

/** Phrases in a document that the glossary avoids. Code, and rows that show what not to write, are left out. */
export function avoidedPhrases(name, text) {
  let bad = false;
  return withoutCode(text)
    .replace(/`[^`\n]*`/g, "")
    .split("\n")
    .flatMap((line) => {
      if (/^\| not \|/.test(line)) bad = true;
      else if (!line.startsWith("|")) bad = false;
      const found = bad ? [] : AVOIDED.filter(([phrase]) => phrase.test(line));
      return found.map(([phrase, instead]) => `${name}: "${line.match(phrase)[0]}" is avoided; say ${instead}`);
    });
}

/** What is wrong with the beginning of a page: the sentence below its title says for whom it is. */
export function readerFault(text) {
  return /^# .+\n\n(?:For (?:people|maintainers)|A register for )/.test(text) ? undefined : "does not begin with the people it is for";
}

/** What is wrong with the pages below docs/, and which of them the index leaves out. */
function pageFaults(root, all) {
  const pages = all.filter((name) => name.startsWith("docs/"));
  const index = links(readFileSync(join(root, "docs/README.md"), "utf8")).map((link) => join("docs", link));
  const wrong = pages.filter((name) => name !== "docs/README.md" && !index.includes(name)).map((name) => `${name} is not in docs/README.md`);
  for (const name of pages) {
    const fault = readerFault(readFileSync(join(root, name), "utf8"));
    if (fault) wrong.push(`${name} ${fault}`);
  }
  return wrong;
}

/** Every command of docs/cli.md with its options: what `satchel --help` says, as a test of the command line checks. */
export function commands(text) {
  const known = new Map();
  for (const section of text.split(/^## /m).slice(1)) {
    const words = section.match(/^`satchel ([^`]*)`/)?.[1].split(" ") ?? [];
    const name = words.slice(0, words.findIndex((word) => !/^[a-z-]+$/.test(word)) >>> 0).join(" ");
    known.set(name, new Set([...section.matchAll(/`(--[a-z-]+)/g)].map(([, option]) => option)));
  }
  return known;
}

/** What is written as code: spans, and the lines of blocks. */
function code(text) {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block.split("\n"));
  return [...blocks, ...[...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, span]) => span)];
}

/** Commands of Satchel and targets of make that a document names and that are not there. */
export function unknownCommands(name, text, known, targets) {
  const wrong = [];
  for (const line of code(text).flatMap((line) => line.split(/&&|;|\|(?!\w)|  #/))) {
    const target = line.match(/^\s*make ([a-z][a-z-]*)(?:\s|$)/)?.[1];
    if (target && !targets.has(target)) wrong.push(`${name}: make ${target} is no target of the Makefile`);
    const words = line.trim().match(/^satchel ([a-z].*)$/)?.[1].split(/\s+/);
    if (!words) continue;
    const command = [words.slice(0, 2).join(" "), words[0]].find((command) => known.has(command));
    const isGroup = [...known.keys()].some((command) => command.startsWith(`${words[0]} `));
    if (command === undefined && !(isGroup && words.length === 1)) wrong.push(`${name}: satchel ${words.slice(0, 2).join(" ")} is no command`);
    if (command === undefined) continue;
    const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
    for (const option of own.map((word) => word.match(/^--[a-z-]+/)?.[0]).filter(Boolean))
      if (!known.get(command).has(option) && !["--json", "--help"].includes(option)) wrong.push(`${name}: satchel ${command} has no ${option}`);
  }
  return wrong;
}

/** Findings without a row, and rows that name a test that is not there. */
export function findingFaults(table, scripts, sources) {
  const wrong = scripts.filter((script) => !table.includes(`(${script})`)).map((script) => `findings/${script} has no row in findings/README.md`);
  const rows = table.split("\n").filter((row) => row.startsWith("| ["));
  const named = rows.flatMap((row) => [...row.split("|").at(-2).matchAll(/`(\w+)`/g)].map(([, test]) => test));
  return [...wrong, ...named.filter((test) => !sources.includes(`fn ${test}(`)).map((test) => `findings/README.md: there is no test ${test}`)];
}

/** Crates whose root names no test to copy, or one that is not there. */
function crateFaults(root) {
  return readdirSync(join(root, "crates")).flatMap((crate) => {
    const source = join(root, "crates", crate, "src");
    const file = ["lib.rs", "main.rs"].map((name) => join(source, name)).find((name) => existsSync(name));
    const named = readFileSync(file, "utf8").match(/^\/\/! A test to copy: `(.+)::(\w+)`\.$/m);
    const isThere = named && existsSync(join(source, named[1])) && readFileSync(join(source, named[1]), "utf8").includes(`fn ${named[2]}(`);
    return isThere ? [] : [`${relative(root, file)} names no test to copy that is there`];
  });
}

/** The text of every source file of Rust below these folders. */
function rust(root, folders) {
  const files = folders.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)));
  return files.filter((name) => name.endsWith(".rs")).map((name) => readFileSync(name, "utf8")).join("\n");
}

/** What is wrong with the subject of a commit; nothing if it is right. */
export function subjectFault(subject) {
  if ([...subject].length > LONGEST) return `longer than ${LONGEST} characters`;
  const said = subject.match(/^[\w-]+(?:\([\w-]+\))?: (.+)$/)?.[1];
  if (said === undefined) return 'does not begin with an area, as in "hub: keep …"';
  const first = said.split(" ")[0].toLowerCase();
  return NOT_IMPERATIVE.test(said) && !IMPERATIVE.has(first) ? `is not imperative: "${first} …"` : undefined;
}

/** Documents of the repository. */
function documents(root) {
  const below = (folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(folder, name)) : [];
  const folders = [".", "docs", "docs/registers", "docs/releases", "findings", "tests/chaos/fixtures", "tests/clients"];
  const all = folders.flatMap(below);
  return all.filter((name) => name.endsWith(".md") && statSync(join(root, name)).isFile());
}

/** Subjects of commits since the published main; none where there is no such branch. */
function subjects(root) {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    return git("log", "--no-merges", "--format=%s", "origin/main..HEAD").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const all = documents(root);
  const wrong = [...brokenLinks(root, all), ...pageFaults(root, all)];
  const known = commands(readFileSync(join(root, "docs/cli.md"), "utf8"));
  const targets = new Set([...readFileSync(join(root, "Makefile"), "utf8").matchAll(/^([a-z][a-z-]*):/gm)].map(([, target]) => target));
  for (const name of all) {
    const text = readFileSync(join(root, name), "utf8");
    wrong.push(...avoidedPhrases(name, text), ...unknownCommands(name, text, known, targets));
  }
  wrong.push(...crateFaults(root));
  const scripts = readdirSync(join(root, "findings")).filter((name) => name.endsWith(".sh"));
  const sources = rust(root, ["crates", "src-tauri/src", "tests"]);
  wrong.push(...findingFaults(readFileSync(join(root, "findings/README.md"), "utf8"), scripts, sources));
  for (const subject of subjects(root)) {
    const fault = subjectFault(subject);
    if (fault) wrong.push(`commit "${subject}": ${fault}`);
  }
  for (const line of wrong) console.error(line);
  process.exit(wrong.length === 0 ? 0 : 1);
}
