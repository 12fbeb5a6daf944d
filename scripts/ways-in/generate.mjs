// Writes the ways to install one release, from its version and the checksums of its files: install scripts, Homebrew, winget,
// Scoop, AUR, a Nix flake and packages of npm. The texts are in templates/; only what differs by release is filled in here.
//
//   node scripts/ways-in/generate.mjs VERSION OWNER/NAME FILES OUTPUT
//
// FILES is the directory with the release's files and their SHA256SUMS.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** A release cannot be described: says what is missing and where it was looked for. */
export class Incomplete extends Error {}

/** What each file of a release is called, by a short word for it. */
export function names(version) {
  const cli = (triple, ending) => `satchel-${version}-${triple}.${ending}`;
  return {
    "cli-linux-x64": cli("x86_64-unknown-linux-musl", "tar.gz"),
    "cli-linux-arm64": cli("aarch64-unknown-linux-musl", "tar.gz"),
    "cli-macos": cli("universal-apple-darwin", "tar.gz"),
    "cli-windows-x64": cli("x86_64-pc-windows-msvc", "zip"),
    "cli-windows-arm64": cli("aarch64-pc-windows-msvc", "zip"),
    "app-macos": `Satchel_${version}_universal.dmg`,
    "app-windows-x64": `Satchel_${version}_x64-setup.exe`,
    "app-windows-arm64": `Satchel_${version}_arm64-setup.exe`,
    "app-deb-x64": `Satchel_${version}_amd64.deb`,
    "app-deb-arm64": `Satchel_${version}_arm64.deb`,
  };
}

/** The checksums of a release by file name, out of what `sha256sum` printed. */
export function sums(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, sum, name] = line.match(/^([0-9a-f]{64}) [ *](.+)$/) ?? [];
      if (!sum) throw new Incomplete(`SHA256SUMS has a line that is no checksum: ${line}`);
      return [name, sum];
    }),
  );
}

/** A template with its places filled in; a place that nobody knows is an error. */
export function filled(template, release) {
  const file = (word) => {
    const name = names(release.version)[word];
    if (!name) throw new Incomplete(`a template names the file ${word}, which no release has`);
    return name;
  };
  return template.replaceAll(/@([A-Z0-9]+)(?::([a-z0-9-]+))?@/g, (place, kind, word) => {
    switch (kind) {
      case "VERSION":
        return release.version;
      case "REPOSITORY":
        return release.repository;
      case "OWNER":
        return release.repository.split("/")[0];
      // npm takes no capital letters.
      case "SCOPE":
        return release.repository.split("/")[0].toLowerCase();
      case "DOWNLOAD":
        return `https://github.com/${release.repository}/releases/download/v${release.version}`;
      case "FILE":
        return file(word);
      case "SHA256": {
        const sum = release.sums[file(word)];
        if (!sum) throw new Incomplete(`the release has no checksum of ${file(word)}`);
        return sum;
      }
      default:
        throw new Incomplete(`a template has a place that is unknown: ${place}`);
    }
  });
}

function filesBelow(directory, prefix = "") {
  return readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = join(prefix, entry.name);
    return entry.isDirectory() ? filesBelow(directory, path) : [path];
  });
}

/** The packages of npm that hold the programs themselves: one a system, so that only one is fetched. */
const PLATFORMS = [
  { word: "cli-linux-x64", os: "linux", cpu: "x64", programs: ["satchel", "satchel-reaper"] },
  { word: "cli-linux-arm64", os: "linux", cpu: "arm64", programs: ["satchel", "satchel-reaper"] },
  { word: "cli-macos", os: "darwin", cpu: "arm64", programs: ["satchel", "satchel-reaper"] },
  { word: "cli-macos", os: "darwin", cpu: "x64", programs: ["satchel", "satchel-reaper"] },
  { word: "cli-windows-x64", os: "win32", cpu: "x64", programs: ["satchel.exe"] },
  { word: "cli-windows-arm64", os: "win32", cpu: "arm64", programs: ["satchel.exe"] },
];

function unpacked(archive, to) {
  const [program, ...words] = archive.endsWith(".zip")
    ? ["python3", "-m", "zipfile", "-e", archive, to]
    : ["tar", "-xzf", archive, "-C", to];
  execFileSync(program, words, { stdio: ["ignore", "ignore", "inherit"] });
}

function platformPackages(release, files, output) {
  for (const { word, os, cpu, programs } of PLATFORMS) {
    const name = names(release.version)[word];
    const directory = join(output, "npm", `satchel-${os}-${cpu}`);
    mkdirSync(join(directory, "bin"), { recursive: true });
    const about = {
      name: `@${release.repository.split("/")[0].toLowerCase()}/satchel-${os}-${cpu}`,
      version: release.version,
      description: `The command line of Satchel for ${os} ${cpu}`,
      license: "Apache-2.0 OR MIT",
      repository: { type: "git", url: `git+https://github.com/${release.repository}.git` },
      os: [os],
      cpu: [cpu],
      files: ["bin"],
    };
    writeFileSync(join(directory, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
    const at = mkdtempSync(join(tmpdir(), "satchel-ways-in-"));
    try {
      unpacked(join(files, name), at);
      const inside = join(at, name.replace(/\.(tar\.gz|zip)$/, ""));
      for (const program of programs) {
        if (!existsSync(join(inside, program))) throw new Incomplete(`${name} holds no ${program}`);
        cpSync(join(inside, program), join(directory, "bin", program));
        chmodSync(join(directory, "bin", program), 0o755);
      }
    } finally {
      rmSync(at, { recursive: true, force: true });
    }
  }
}

/** Writes everything below a directory. */
export function generate(version, repository, files, output) {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)) throw new Incomplete(`${version} is no version such as 1.2.3`);
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Incomplete(`${repository} is no repository such as owner/name`);
  const release = { version, repository, sums: sums(readFileSync(join(files, "SHA256SUMS"), "utf8")) };
  const templates = join(here, "templates");
  for (const path of filesBelow(templates)) {
    const to = join(output, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, filled(readFileSync(join(templates, path), "utf8"), release));
    chmodSync(to, statSync(join(templates, path)).mode);
  }
  platformPackages(release, files, output);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  if (words.length !== 4) {
    console.error("usage: node scripts/ways-in/generate.mjs VERSION OWNER/NAME FILES OUTPUT");
    process.exit(2);
  }
  try {
    generate(...words);
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    console.error(`satchel: ${error.message}`);
    process.exit(1);
  }
}
