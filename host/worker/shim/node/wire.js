'use strict';
// The connection: a message is a line of JSON.

const net = require('net');

/**
 * Connects to the host and gives each of its messages to receive. The process ends with
 * the connection, so that it never outlives the host.
 */
function connect(host, port, receive) {
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
      const line = Buffer.concat(parts).toString('utf8');
      parts = [];
      chunk = chunk.subarray(end + 1);
      if (line !== '') receive(JSON.parse(line));
    }
  });
  return {
    /** Sends one message. */
    send(message) {
      socket.write(wholeCharacters(JSON.stringify(message)) + '\n');
    },
    /** Sends what is left and ends the process. */
    end() {
      socket.end(() => process.exit(0));
    },
  };
}

/** JSON without the escapes of halves of characters: a message cannot hold them. */
function wholeCharacters(json) {
  if (!/\\ud[89a-f]/.test(json)) return json;
  return json.replace(/\\(?:ud[89a-f]..|.)/g, (escape) => (escape.length > 2 ? '\\ufffd' : escape));
}

module.exports = { connect };
