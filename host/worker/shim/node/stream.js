'use strict';
// HTTP streams of the newer model: with enableHttpStream it serves HTTP itself, and waits
// there for the request of each call (spec workers 5, HttpUri). The host is not told of it:
// this worker passes requests on, whole, and so are the responses.

const http = require('http');
const { values } = require('./classichttp');

/** The request in an attempt, as it came. */
function requestOf(wireRequest) {
  const input = (wireRequest.inputData || []).find((one) => one.data && one.data.http);
  return input && input.data.http;
}

/** The headers and the route's parameters, where the model looks for them then. */
function metadata(request) {
  const out = { Headers: { json: JSON.stringify(values(request.nullableHeaders, request.headers)) } };
  for (const [name, value] of Object.entries(values(request.nullableParams, request.params))) out[name] = { string: value };
  return out;
}

/** Sends a request to the model's server. The response is a value of a model. */
function pass(uri, invocationId, request, signal) {
  const { protocol, host, pathname, search } = new URL(request.url);
  const { hostname, port } = new URL(uri);
  const headers = values(request.nullableHeaders, request.headers);
  for (const name of ['content-length', 'transfer-encoding', 'connection', 'expect']) delete headers[name];
  headers['x-ms-invocation-id'] = invocationId;
  headers['x-forwarded-host'] = headers['x-forwarded-host'] || host;
  headers['x-forwarded-proto'] = headers['x-forwarded-proto'] || protocol.slice(0, -1);
  return new Promise((resolve, reject) => {
    const out = http.request({ hostname, port, method: request.method, path: pathname + search, headers, agent: false, signal }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => resolve(response(answer, Buffer.concat(parts))));
    });
    out.on('error', reject);
    out.end(request.body && request.body.bytes ? Buffer.from(request.body.bytes, 'base64') : undefined);
  });
}

function response(answer, body) {
  const headers = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie', 'x-ms-invocation-id', 'date'].includes(name)) headers[name] = value;
  }
  return { http: { statusCode: answer.statusCode, headers, cookies: (answer.headers['set-cookie'] || []).map(cookie), body: { bytes: body } } };
}

/** A cookie of a line of the response. */
function cookie(line) {
  const [first, ...attributes] = line.split(';').map((part) => part.trim());
  const at = first.indexOf('=');
  const out = { name: first.slice(0, at), value: decoded(first.slice(at + 1)) };
  for (const attribute of attributes) {
    const [name, value = ''] = attribute.split('=');
    switch (name.toLowerCase()) {
      case 'domain': out.domain = { value }; break;
      case 'path': out.path = { value }; break;
      case 'secure': out.secure = { value: true }; break;
      case 'httponly': out.httpOnly = { value: true }; break;
      case 'max-age': out.maxAge = { value: Number(value) }; break;
      case 'expires': out.expires = { value: { seconds: Math.round(Date.parse(value) / 1000) } }; break;
      case 'samesite': out.sameSite = value.toLowerCase() === 'none' ? 'explicitNone' : value; break;
    }
  }
  return out;
}

/** The host escapes values. */
function decoded(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

module.exports = { requestOf, metadata, pass };
