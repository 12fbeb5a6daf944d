// Writes latest.json, which installed apps read: the newest version, what is new, and the signed file for each kind of computer.
// The form is that of Tauri's updater; crates/satchel-core/src/updates/offer.rs reads it.
//
//   node scripts/updates.mjs VERSION OWNER/NAME FILES NOTES
//
// FILES is the directory with the release's files, each with its signature (.sig) of Tauri's signer beside it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What replaces an installed app, by the kind of computer. Packages of Linux are replaced by their managers. */
const FILES = {
  "darwin-aarch64": (version) => `Satchel_${version}_universal.app.tar.gz`,
  "darwin-x86_64": (version) => `Satchel_${version}_universal.app.tar.gz`,
  "windows-x86_64": (version) => `Satchel_${version}_x64-setup.exe`,
  "windows-aarch64": (version) => `Satchel_${version}_arm64-setup.exe`,
};

/** The list of one release; an error names what is missing. */
export function list(version, repository, files, notes) {
  const platforms = Object.entries(FILES).map(([target, name]) => {
    const file = name(version);
    const signature = join(files, `${file}.sig`);
    if (!existsSync(join(files, file)) || !existsSync(signature)) throw new Error(`${file} or its signature is missing`);
    const url = `https://github.com/${repository}/releases/download/v${version}/${file}`;
    return [target, { signature: readFileSync(signature, "utf8").trim(), url }];
  });
  return { version, notes: notes.trim(), platforms: Object.fromEntries(platforms) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [version, repository, files, notes] = process.argv.slice(2);
  if (!notes) {
    console.error("usage: node scripts/updates.mjs VERSION OWNER/NAME FILES NOTES");
    process.exit(2);
  }
  try {
    const told = list(version, repository, files, readFileSync(notes, "utf8"));
    writeFileSync(join(files, "latest.json"), `${JSON.stringify(told, null, 2)}\n`);
  } catch (error) {
    console.error(`satchel: ${error.message}`);
    process.exit(1);
  }
}
