'use strict';
// The worker for JavaScript and TypeScript: it connects to the host, and runs the
// functions of one app. What travels is described in shim/doc.go. This file and wire.js are
// the program; the others are a library, which the test kit has too.

const major = Number(process.versions.node.split('.')[0]);
if (major < 18) {
  process.stderr.write(`error: Node.js ${process.versions.node} is too old: functions need version 18 or later (${process.execPath}; https://nodejs.org, or set languageWorkers:node:defaultExecutablePath)\n`);
  process.exit(1);
}

process.setSourceMapsEnabled(true); // stacks name the lines of TypeScript, where the compiler wrote maps

const { connect } = require('./wire');
const { App } = require('./app');
const { installCore } = require('./core');
const { textOf } = require('./failure');

/** The value of an option of the command line; the last one counts. */
function option(name) {
  const at = process.argv.lastIndexOf('--' + name);
  return at < 0 ? undefined : process.argv[at + 1];
}

process.on('uncaughtException', (error) => {
  process.stderr.write(`error: uncaught exception, the worker ends: ${textOf(error)}\n`);
  process.exit(1);
});

const wire = connect(
  option('host'), Number(option('port')), Number(option('grpcMaxMessageLength')) || Infinity,
  (message) => app.receive(message), (head, error) => app.refuse(head, error),
);
const app = new App(wire);
installCore(app);
wire.send({ requestId: option('requestId'), startStream: { workerId: option('workerId') } });
