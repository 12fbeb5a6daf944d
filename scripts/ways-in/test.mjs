// The ways in, for a release that is pretended: generated, checked by what understands each of them here, and the ones that run on
// this system run for real, against a server on this computer. `make ways-in`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { list } from "../updates.mjs";
import { Incomplete, filled, generate, names, sums } from "./generate.mjs";

const VERSION = "1.2.3";
const REPOSITORY = "Example/satchel";
const home = mkdtempSync(join(tmpdir(), "satchel ways in ä"));
const files = join(home, "files");
const output = join(home, "output");
const served = new Map();
let server;
let address;

/** An archive with a program that says its version and notes its arguments. */
function archive(word, contents = ["satchel", "satchel-reaper"], says = `satchel ${VERSION}`) {
  const name = names(VERSION)[word];
  const inside = name.replace(/\.(tar\.gz|zip)$/, "");
  const directory = mkdtempSync(join(home, "archive-"));
  mkdirSync(join(directory, inside));
  for (const program of contents) {
    writeFileSync(
      join(directory, inside, program),
      `#!/bin/sh\n[ "$1" = --version ] && echo "${says}" && exit 0\necho "got: $*"\nexit 7\n`,
    );
    chmodSync(join(directory, inside, program), 0o755);
  }
  const to = join(files, name);
  const words = name.endsWith(".zip")
    ? ["python3", "-m", "zipfile", "-c", to, join(directory, inside)]
    : ["tar", "-czf", to, "-C", directory, inside];
  execFileSync(words[0], words.slice(1));
  return to;
}

function has(program) {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

before(async () => {
  mkdirSync(files);
  for (const word of Object.keys(names(VERSION))) {
    if (!word.startsWith("cli-")) writeFileSync(join(files, names(VERSION)[word]), word);
    else archive(word, word.includes("windows") ? ["satchel.exe"] : undefined);
  }
  const sum = (name) => createHash("sha256").update(readFileSync(join(files, name))).digest("hex");
  const list = readdirSync(files).map((name) => `${sum(name)}  ${name}\n`);
  writeFileSync(join(files, "SHA256SUMS"), list.join(""));
  generate(VERSION, REPOSITORY, files, output);
  server = createServer((request, response) => {
    const body = served.get(request.url);
    response.writeHead(body ? 200 : 404).end(body);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  address = `http://127.0.0.1:${server.address().port}`;
});

after(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

const read = (...path) => readFileSync(join(output, ...path), "utf8");

test("a template's places are filled in, and one that nobody knows is an error", () => {
  const release = { version: VERSION, repository: REPOSITORY, sums: {} };
  assert.equal(filled("@VERSION@ @OWNER@ @SCOPE@ $@ a@b.c", release), "1.2.3 Example example $@ a@b.c");
  for (const template of ["@WHAT@", "@FILE:nothing@", "@SHA256:cli-macos@"])
    assert.throws(() => filled(template, release), Incomplete, template);
});

test("checksums are read, and anything else among them is an error", () => {
  const sum = "0".repeat(64);
  assert.deepEqual(sums(`${sum}  a b.zip\n${sum} *c\n`), { "a b.zip": sum, c: sum });
  for (const text of ["abc  file\n", `${sum} file\n`]) assert.throws(() => sums(text), Incomplete, text);
});

test("a release without one of its files is not described", () => {
  const some = join(home, "some");
  mkdirSync(some);
  const lines = readFileSync(join(files, "SHA256SUMS"), "utf8").split("\n");
  writeFileSync(join(some, "SHA256SUMS"), lines.filter((line) => !line.includes("dmg")).join("\n"));
  assert.throws(() => generate(VERSION, REPOSITORY, some, join(home, "nowhere")), /no checksum of Satchel_1.2.3_universal.dmg/);
  for (const [version, repository] of [["latest", REPOSITORY], [VERSION, "satchel"]])
    assert.throws(() => generate(version, repository, files, join(home, "nowhere")), Incomplete);
});

test("nothing is left to fill in, and every address is of this release", () => {
  const all = readdirSync(output, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = all.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).filter((path) => !/npm\/.*\/bin\/satchel(-reaper)?(\.exe)?$/.test(path));
  assert.ok(texts.length > 12, texts.join("\n"));
  for (const path of texts) {
    const text = readFileSync(path, "utf8");
    assert.doesNotMatch(text, /@[A-Z0-9]+(:[a-z0-9-]+)?@/, path);
    for (const [, version] of text.matchAll(/releases\/download\/v([^/'"\s}]+)/g))
      assert.ok([VERSION, "$version"].includes(version), `${path}: ${version}`);
  }
});

test("JSON is JSON", () => {
  const scoop = JSON.parse(read("scoop", "satchel.json"));
  const zip = join(files, names(VERSION)["cli-windows-x64"]);
  assert.equal(scoop.architecture["64bit"].hash, createHash("sha256").update(readFileSync(zip)).digest("hex"));
  assert.equal(JSON.parse(read("npm", "satchel", "package.json")).name, "@example/satchel");
});

const shells = [["install.sh", "sh"], ["aur/PKGBUILD", "bash"]];
test("shells read the scripts", () => {
  for (const [path, shell] of shells) execFileSync(shell, ["-n", join(output, path)]);
});

test("shellcheck has no complaint", { skip: !has("shellcheck") && "shellcheck is not installed" }, () => {
  execFileSync("shellcheck", ["--shell=sh", join(output, "install.sh")], { stdio: "inherit" });
  // What makepkg reads, and what it sets, is not seen by it.
  const known = "--exclude=SC2034,SC2154,SC2164";
  execFileSync("shellcheck", ["--shell=bash", known, join(output, "aur/PKGBUILD")], { stdio: "inherit" });
});

test("ruby reads the cask and the formula", { skip: !has("ruby") && "ruby is not installed" }, () => {
  for (const path of ["Casks/satchel.rb", "Formula/satchel-cli.rb"]) execFileSync("ruby", ["-wc", join(output, "homebrew", path)]);
});

test("nix reads the flake", { skip: !has("nix-instantiate") && "nix is not installed" }, () => {
  execFileSync("nix-instantiate", ["--parse", join(output, "nix/flake.nix")], { stdio: ["ignore", "ignore", "inherit"] });
});

test("PowerShell reads the script", { skip: !has("pwsh") && "PowerShell is not installed" }, () => {
  const parse = "$e = $null; [void][Management.Automation.Language.Parser]::ParseFile($args[0], [ref]$null, [ref]$e); if ($e) { throw $e }";
  execFileSync("pwsh", ["-NoProfile", "-Command", `& { ${parse} }`, join(output, "install.ps1")]);
});

test("the AUR's two files say the same", () => {
  const script = `. "$1"; printf '%s\\n' "$pkgver" "\${source_x86_64[0]}" "\${sha256sums_x86_64[0]}" "\${sha256sums_aarch64[0]}"`;
  const said = execFileSync("bash", ["-c", script, "bash", join(output, "aur/PKGBUILD")], { encoding: "utf8" });
  for (const value of said.trim().split("\n")) assert.ok(read("aur", ".SRCINFO").includes(` = ${value}\n`), value);
});

/** Runs the install script in a home of its own, with what the server holds. */
function install(word, { body, variables = {} } = {}) {
  const name = names(VERSION)[word];
  served.clear();
  if (body !== null) served.set(`/${name}`, body ?? readFileSync(join(files, name)));
  const own = mkdtempSync(join(home, "home "));
  const env = { PATH: process.env.PATH, HOME: own, SATCHEL_DOWNLOAD: address, ...variables };
  // Not in one step: the server is of this process.
  return new Promise((done) => {
    const child = spawn("sh", [join(output, "install.sh")], { env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("close", (code) => done({ code, out, err, home: own }));
  });
}
const word = process.arch === "arm64" ? "cli-linux-arm64" : "cli-linux-x64";
const onLinux = { skip: process.platform !== "linux" && "it is for this system's archive" };
const inside = (directory) => (existsSync(directory) ? readdirSync(directory).sort() : []);

test("the install script installs, twice as well, and says what is next", onLinux, async () => {
  const first = await install(word);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /Installed satchel 1\.2\.3 in /);
  assert.match(first.out, /is not on your PATH/);
  const bin = join(first.home, ".local/bin");
  assert.deepEqual(inside(bin), ["satchel", "satchel-reaper"]);
  assert.equal(statSync(join(bin, "satchel")).mode & 0o777, 0o755);
  const again = await install(word, { variables: { SATCHEL_INSTALL_DIR: bin, PATH: `${bin}:${process.env.PATH}` } });
  assert.equal(again.code, 0, again.err);
  assert.doesNotMatch(again.out, /not on your PATH/);
  assert.deepEqual(inside(bin), ["satchel", "satchel-reaper"]);
});

test("another file than the release's is not installed, and what was there stays", onLinux, async () => {
  const bin = join(home, "kept");
  mkdirSync(bin);
  writeFileSync(join(bin, "satchel"), "old");
  const good = readFileSync(join(files, names(VERSION)[word]));
  const bodies = { other: Buffer.from("<html>"), cut: good.subarray(0, good.length - 1), empty: Buffer.from("") };
  for (const [what, body] of Object.entries(bodies)) {
    const refused = await install(word, { body, variables: { SATCHEL_INSTALL_DIR: bin } });
    assert.equal(refused.code, 1, what);
    assert.match(refused.err, /is not the file of this release and was not installed/, what);
    assert.deepEqual(inside(bin), ["satchel"], what);
  }
  assert.equal(readFileSync(join(bin, "satchel"), "utf8"), "old");
});

test("a file that is missing, and an address without encryption, are told", onLinux, async () => {
  const missing = await install(word, { body: null });
  assert.equal(missing.code, 1);
  assert.match(missing.err, /cannot fetch .*; check the connection and try again/);
  assert.deepEqual(inside(join(missing.home, ".local/bin")), []);
  const open = await install(word, { variables: { SATCHEL_DOWNLOAD: "http://example.com" } });
  assert.equal(open.code, 1);
  assert.match(open.err, /is no https address/);
});

test("half of the install script does nothing", onLinux, async () => {
  const text = read("install.sh");
  const own = mkdtempSync(join(home, "half "));
  for (const part of [0.3, 0.6, 0.9]) {
    const child = spawn("sh", [], { env: { PATH: process.env.PATH, HOME: own, SATCHEL_DOWNLOAD: address } });
    child.stdin.end(text.slice(0, text.length * part));
    await new Promise((done) => child.on("close", done));
  }
  assert.deepEqual(inside(own), []);
});

const onNpm = { skip: (process.platform !== "linux" || !has("npm")) && "npm is not installed" };
test("npm installs the wrapper with the program of this system, which gets its words", onNpm, async () => {
  const own = mkdtempSync(join(home, "npm "));
  const platform = `satchel-linux-${process.arch}`;
  const npm = (words, cwd) => execFileSync("npm", [...words, "--silent"], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const packed = ["satchel", platform].map((name) => join(own, npm(["pack", join(output, "npm", name), "--pack-destination", own], own).trim()));
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "t", private: true }));
  // Nothing of it is in a registry yet: the two are named, and nothing else is asked for.
  npm(["install", "--offline", "--no-audit", "--no-fund", ...packed.reverse()], own);
  const start = (words) => {
    try {
      return { code: 0, out: execFileSync(join(own, "node_modules/.bin/satchel"), words, { encoding: "utf8" }) };
    } catch (error) {
      return { code: error.status, out: error.stdout };
    }
  };
  assert.equal(start(["--version"]).out, "satchel 1.2.3\n");
  assert.deepEqual(start(["call", "a b", "$x"]), { code: 7, out: "got: call a b $x\n" });
});

test("the list of the newest version names signed files of this release, and nothing without them", () => {
  const some = mkdtempSync(join(home, "updates-"));
  const signed = [`Satchel_${VERSION}_universal.app.tar.gz`, `Satchel_${VERSION}_x64-setup.exe`, `Satchel_${VERSION}_arm64-setup.exe`];
  for (const file of signed) {
    assert.throws(() => list(VERSION, REPOSITORY, some, "Notes"), /or its signature is missing/);
    writeFileSync(join(some, file), file);
    writeFileSync(join(some, `${file}.sig`), `signature of ${file}\n`);
  }
  const told = list(VERSION, REPOSITORY, some, "\nNotes\n");
  assert.deepEqual([told.version, told.notes], [VERSION, "Notes"]);
  assert.deepEqual(Object.keys(told.platforms).sort(), ["darwin-aarch64", "darwin-x86_64", "windows-aarch64", "windows-x86_64"]);
  for (const { url, signature } of Object.values(told.platforms)) {
    const file = url.split("/").pop();
    assert.equal(url, `https://github.com/${REPOSITORY}/releases/download/v${VERSION}/${file}`);
    assert.equal(signature, `signature of ${file}`);
  }
});

test("cargo binstall looks for the names that a release has", () => {
  const manifest = readFileSync(new URL("../../crates/satchel-cli/Cargo.toml", import.meta.url), "utf8");
  const files = Object.values(names(VERSION));
  for (const [, url] of manifest.matchAll(/^pkg-url = "(.*)"$/gm)) {
    const triples = url.endsWith(".zip") ? ["x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"] : ["x86_64-unknown-linux-musl"];
    for (const triple of triples) {
      const name = url.split("/").pop().replaceAll("{ version }", VERSION).replaceAll("{ target }", triple);
      assert.ok(files.includes(name), name);
    }
  }
});
