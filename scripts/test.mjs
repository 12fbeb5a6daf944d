// Runs `cargo test` with the arguments given and passes its output on. Where only a few tests of one binary fail, they are run once
// more, alone: a test that fails again is red; one that passes now is named, because it is a defect too, of the test or of the
// program, but it does not hide what the others found. Unit tests get no second run: nothing beside them can disturb them.
//
//   node scripts/test.mjs --workspace --features … [--test NAME] [-- ARGUMENTS] [--beside --test OTHER [-- ARGUMENTS]]…
//     [--beside --run PROGRAM [ARGUMENTS]]…
//
// Each `--beside` adds another run at the same time, of the same packages and features: for test binaries that wait most of
// their time; with `--run`, a program of its own, which gets no second run. Everything is compiled first. The first run is shown as
// it goes, each other one when it is over.
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

/** The runs that the arguments ask for, each with the packages and features of the first. */
export function runs(args) {
  const all = [[]];
  for (const arg of args) {
    if (arg === "--beside") all.push([]);
    else all.at(-1).push(arg);
  }
  const [first, ...others] = all;
  const shared = selection(first).filter((arg) => arg !== "--no-fail-fast");
  return [first, ...others.map((other) => (program(other) ? other : [...shared, ...other]))];
}

/** The program that a run starts instead of `cargo test`, with its arguments; null where it is `cargo test`. */
export function program(args) {
  return args[0] === "--run" ? args.slice(1) : null;
}

/** What is compiled for a run: everything before the arguments of the test binary. */
export function compiled(args) {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return [...own.filter((arg) => arg !== "--no-fail-fast"), "--no-run"];
}

function start(args, shown = true) {
  return new Promise((resolve) => {
    // One pipe for both streams keeps the order in which cargo and the test binaries write.
    const command = program(args) ?? ["cargo", "test", ...args];
    const child = spawn("sh", ["-c", 'exec "$@" 2>&1', "sh", ...command], { stdio: ["inherit", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => {
      chunks.push(chunk);
      if (shown) process.stdout.write(chunk);
    });
    child.on("close", (code) => resolve({ args, code: code ?? 1, output: Buffer.concat(chunks).toString(), shown }));
  });
}

/** Runs the red tests of one run once more, alone; null where that excuses nothing, else the names that are green then. */
async function again({ args, output }) {
  const passed = [];
  const seconds = program(args) ? [] : secondRuns(failures(output));
  if (seconds.length === 0) return null;
  for (const [target, names] of seconds) {
    console.log(`\nRed beside the others; once more alone: ${names.join(", ")}\n`);
    const alone = [...selection(args), ...target.split(" "), "--", "--exact", "--test-threads", "1", ...names];
    const second = await start(alone);
    // A name that matches nothing would pass by doing nothing.
    const ran = Number(second.output.match(/^running (\d+) tests?$/m)?.[1] ?? 0);
    if (second.code !== 0 || ran !== names.length) return null;
    passed.push(...names.map((name) => `${target.replace("--test ", "")} ${name}`));
  }
  return passed;
}

async function main(args) {
  const all = runs(args);
  if (all.length > 1) {
    for (const run of all.filter((run) => !program(run))) {
      const { code } = await start(compiled(run));
      if (code !== 0) return code;
    }
  }
  const ended = await Promise.all(all.map((run, at) => start(run, at === 0)));
  for (const { shown, output } of ended) {
    if (!shown) process.stdout.write(output);
  }
  const passed = [];
  for (const run of ended.filter(({ code }) => code !== 0)) {
    const green = await again(run);
    if (green === null) return run.code;
    passed.push(...green);
  }
  if (passed.length > 0) {
    console.log("\nRed beside the others and green alone, which is a defect to mend:");
    for (const name of passed) console.log(`  ${name}`);
  }
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await main(process.argv.slice(2)));
