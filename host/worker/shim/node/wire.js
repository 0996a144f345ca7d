'use strict';
// The connection: a message is a line of JSON.

const net = require('net');
const { line } = require('./line');

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
      const text = Buffer.concat(parts);
      parts = [];
      chunk = chunk.subarray(end + 1);
      let message;
      try {
        message = JSON.parse(text.toString('utf8'));
      } catch (error) {
        refuse(text.subarray(0, headLength).toString('utf8'), error);
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
      const text = line(message, most);
      if (!message.invocationResponse || held + text.length > mostHeld) {
        leave();
        socket.write(text);
        return;
      }
      if (held === 0) process.nextTick(leave);
      answers.push(text);
      held += text.length;
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

module.exports = { connect };
