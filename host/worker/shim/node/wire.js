'use strict';
// The connection: a message is a line of JSON.

const net = require('net');

const mostHeld = 65536; // bytes of answers that wait for others

/**
 * Connects to the host and gives each of its messages to receive, and those that are longer
 * than the longest text to refuse: the beginning of the line, and why. The process ends with
 * the connection, so that it never outlives the host. most limits a message, in bytes.
 */
function connect(host, port, most, receive, refuse) {
  const socket = net.connect({ host, port, noDelay: true });
  socket.on('error', () => process.exit(0));
  socket.on('close', () => process.exit(0));
  let parts = [];
  socket.on('data', (chunk) => {
    for (;;) {
      const end = chunk.indexOf(10);
      if (end < 0) {
        parts.push(chunk);
        return;
      }
      parts.push(chunk.subarray(0, end));
      const line = Buffer.concat(parts);
      parts = [];
      chunk = chunk.subarray(end + 1);
      let message;
      try {
        message = JSON.parse(line.toString('utf8'));
      } catch (error) {
        refuse(line.subarray(0, headLength).toString('utf8'), error);
        continue;
      }
      receive(message);
    }
  });
  let answers = [];
  let held = 0; // bytes of the answers
  const leave = () => {
    if (held === 0) return;
    const lines = Buffer.concat(answers);
    answers = [];
    held = 0;
    socket.write(lines);
  };
  process.on('exit', leave);
  return {
    /**
     * Sends one message. An error says why it cannot travel, and nothing is sent. The answers
     * of calls that end together leave together, before anything else happens; all else
     * leaves at once, after the answers before it.
     */
    send(message) {
      const line = Buffer.from(wholeCharacters(JSON.stringify(message)) + '\n');
      if (line.length > most) throw new RangeError(`The message has ${line.length} bytes, and the host takes ${most}.`);
      if (!message.invocationResponse || held + line.length > mostHeld) {
        leave();
        socket.write(line);
        return;
      }
      if (held === 0) process.nextTick(leave);
      answers.push(line);
      held += line.length;
    },
    /** Sends what is left and ends the process. */
    end() {
      leave();
      socket.end(() => process.exit(0));
    },
  };
}

/** How much of a line is looked at that is too long. */
const headLength = 1 << 16;

/** JSON without the escapes of halves of characters: a message cannot hold them. */
function wholeCharacters(json) {
  if (!/\\ud[89a-f]/.test(json)) return json;
  return json.replace(/\\(?:ud[89a-f]..|.)/g, (escape) => (escape.length > 2 ? '\\ufffd' : escape));
}

module.exports = { connect };
