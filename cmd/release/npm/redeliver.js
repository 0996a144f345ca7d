#!/usr/bin/env node
// Runs the program of this platform, which the package manager has installed beside this
// file. Standard streams are the program's own, and so are signals and the exit code.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const prefix = "@PLATFORMS@";
const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64", "win32-arm64"];
const here = process.platform + "-" + process.arch;
const program = (platform) => prefix + platform + "/bin/redeliver" + (platform.startsWith("win32") ? ".exe" : "");

function installed(platform) {
  try {
    return require.resolve(program(platform));
  } catch {
    return undefined;
  }
}

// binaryPath is the path of the program; it throws where there is none.
function binaryPath() {
  const found = process.env.REDELIVER_BINARY || installed(here);
  if (found) return found;
  const name = prefix + here;
  if (!platforms.includes(here)) {
    throw new Error("there is no program for " + here + "; REDELIVER_BINARY can name one");
  }
  const other = platforms.find(installed);
  const why = other
    ? "node_modules has the package of another platform, " + prefix + other + ": was it copied, or is this Node.js another architecture's?"
    : "optional dependencies were left out (--omit=optional, or a lock file of another platform)";
  throw new Error("the package " + name + " is missing: " + why + "\nredeliver: hint: npm install --include=optional --no-save " + name + "@@VERSION@");
}

function run() {
  let file;
  try {
    file = binaryPath();
  } catch (e) {
    console.error("redeliver: error: " + e.message);
    process.exit(1);
  }
  const env = { ...process.env, REDELIVER_INSTALLED: process.env.REDELIVER_INSTALLED || "npm @COMMAND@" };
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit", env });
  // A terminal sends Ctrl+C to the program too, which takes both for one. On Windows the
  // console tells both, and this process has to outlive the program.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
    try {
      process.on(signal, () => process.platform !== "win32" && child.kill(signal));
    } catch {} // a signal that this system does not have
  }
  child.on("error", (e) => {
    console.error("redeliver: error: " + file + ": " + e.message);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal); // ends as the program did
    setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
  });
}

module.exports = { binaryPath };
if (require.main === module) run();
