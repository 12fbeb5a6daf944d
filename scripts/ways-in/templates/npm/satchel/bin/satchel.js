#!/usr/bin/env node
// Starts the program of this system, which came as a package of its own, and ends as it does.
const { spawn } = require("node:child_process");

const name = `@@SCOPE@/satchel-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "satchel.exe" : "satchel";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `satchel: ${name} is not installed. Install without --omit=optional, or fetch the program from ` +
      "https://github.com/@REPOSITORY@/releases",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// The terminal tells both; this one waits for the other's answer.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`satchel: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
