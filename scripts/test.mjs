// Runs `cargo test` with the arguments given and passes its output on. Where only a few tests of one binary fail, they are run once
// more, alone: a test that fails again is red; one that passes now is named, because it is a defect too, of the test or of the
// program, but it does not hide what the others found. Unit tests get no second run: nothing beside them can disturb them.
//
//   node scripts/test.mjs --workspace --features … [--test NAME] [-- ARGUMENTS OF THE TEST BINARY]
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** More red tests than these are no coincidence. */
const AT_MOST = 3;

/** What `cargo test` reports as failed: targets, and the tests of each. A target without names ended before it could tell. */
export function failures(output) {
  const failed = new Map();
  let names = [];
  let listing = false;
  for (const line of output.split("\n")) {
    if (/^failures:$/.test(line)) {
      // The list of names comes last; the details before it are indented differently or not at all.
      names = [];
      listing = true;
    } else if (listing && /^ {4}\S+$/.test(line)) {
      names.push(line.trim());
    } else if (/^test result: /.test(line)) {
      listing = false;
    }
    const target = line.match(/^error: (?:doctest|test|bench) failed, to rerun pass `(?:-p \S+ )?(.*)`$/)?.[1];
    if (target !== undefined) {
      failed.set(target, names);
      names = [];
    }
  }
  return failed;
}

/** The runs that tell coincidence from defect; none where a second run would excuse too much. */
export function secondRuns(failed) {
  const entries = [...failed];
  const tests = entries.flatMap(([, names]) => names);
  const excusable = entries.every(([target, names]) => /^--test \S+$/.test(target) && names.length > 0);
  return excusable && tests.length <= AT_MOST ? entries : [];
}

/** The selection of packages and features, without the target and what the test binary is told. */
export function selection(args) {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return own.filter((arg, at) => arg !== "--test" && own[at - 1] !== "--test");
}

function cargoTest(args) {
  return new Promise((resolve) => {
    // One pipe for both streams keeps the order in which cargo and the test binaries write.
    const child = spawn("sh", ["-c", 'exec cargo test "$@" 2>&1', "sh", ...args], { stdio: ["inherit", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => {
      chunks.push(chunk);
      process.stdout.write(chunk);
    });
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

async function main(args) {
  const { code, output } = await cargoTest(args);
  if (code === 0) return 0;
  const runs = secondRuns(failures(output));
  if (runs.length === 0) return code;
  const passed = [];
  for (const [target, names] of runs) {
    console.log(`\nRed beside the others; once more alone: ${names.join(", ")}\n`);
    const again = [...selection(args), ...target.split(" "), "--", "--exact", "--test-threads", "1", ...names];
    const second = await cargoTest(again);
    // A name that matches nothing would pass by doing nothing.
    const ran = Number(second.output.match(/^running (\d+) tests?$/m)?.[1] ?? 0);
    if (second.code !== 0 || ran !== names.length) return code;
    passed.push(...names.map((name) => `${target.replace("--test ", "")} ${name}`));
  }
  console.log("\nRed beside the others and green alone, which is a defect to mend:");
  for (const name of passed) console.log(`  ${name}`);
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await main(process.argv.slice(2)));
