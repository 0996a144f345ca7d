'use strict';
// Requests and responses of HTTP-triggered functions of function.json apps.

const { plain, typed, defined } = require('./values');

/** What a function gets of a request. */
class Request {
  constructor(http) {
    this.method = http.method;
    this.url = http.url;
    this.originalUrl = http.url;
    this.headers = values(http.nullableHeaders, http.headers);
    this.query = values(http.nullableQuery, http.query);
    this.params = values(http.nullableParams, http.params);
    if (http.body && http.body.bytes) {
      this.bufferBody = http.body.bytes;
      const type = String(this.get('content-type') || '').toLowerCase();
      if (type === 'application/octet-stream' || type.startsWith('multipart/')) {
        this.body = this.rawBody = http.body.bytes;
      } else {
        this.rawBody = new TextDecoder().decode(http.body.bytes); // without a byte order mark
        this.body = plain({ string: this.rawBody });
      }
    }
  }

  get(name) {
    return this.headers[String(name).toLowerCase()];
  }
}

function values(nullable, simple) {
  const out = Object.assign({}, simple);
  for (const [name, v] of Object.entries(nullable || {})) out[name] = (v && v.value) || '';
  return out;
}

/** What a function may fill in, in the ways of Express too. */
class Response {
  constructor(done) {
    this.headers = {};
    this.cookies = [];
    Object.defineProperty(this, '_done', { value: done, enumerable: false });
    this.send = this.end;
    this.header = this.set = this.setHeader;
    this.get = this.getHeader;
  }

  end(body) {
    if (body !== undefined) this.body = body;
    if (Buffer.isBuffer(this.body) && !this.getHeader('content-type')) this.type('application/octet-stream');
    this._done();
    return this;
  }

  setHeader(name, value) {
    this.headers[name.toLowerCase()] = value;
    return this;
  }

  getHeader(name) {
    return this.headers[name.toLowerCase()];
  }

  removeHeader(name) {
    delete this.headers[name.toLowerCase()];
    return this;
  }

  status(code) {
    this.statusCode = code;
    return this;
  }

  sendStatus(code) {
    this.status(code);
    return this.end();
  }

  type(type) {
    return this.setHeader('content-type', type);
  }

  json(body) {
    this.type('application/json');
    return this.send(body);
  }
}

/** What a function gave to its http output, as it travels. */
function httpOutput(value) {
  if (!defined(value)) return undefined;
  if (typeof value !== 'object' || Buffer.isBuffer(value) || Array.isArray(value)) return typed(value);
  const known = ['status', 'statusCode', 'headers', 'cookies', 'body', 'enableContentNegotiation', 'isRaw'];
  if (!(value instanceof Response) && !Object.keys(value).some((name) => known.includes(name))) return typed(value);
  const status = typeof value.status === 'function' ? value.statusCode : defined(value.statusCode) ? value.statusCode : value.status;
  const http = { headers: headers(value.headers), cookies: (value.cookies || []).map(cookie), enableContentNegotiation: Boolean(value.enableContentNegotiation) };
  if (defined(status)) http.statusCode = String(status);
  if (value.body !== undefined) http.body = typed(value.body);
  return { http };
}

function headers(given) {
  const out = {};
  for (const [name, value] of Object.entries(given || {})) if (defined(value)) out[name] = String(value);
  return out;
}

/** A cookie as it travels; optional parts are objects. */
function cookie(given) {
  const out = { name: String(given.name), value: encodeURIComponent(String(given.value)) };
  for (const name of ['domain', 'path', 'secure', 'httpOnly']) if (defined(given[name])) out[name] = { value: given[name] };
  if (defined(given.maxAge)) out.maxAge = { value: Number(given.maxAge) };
  if (defined(given.sameSite)) out.sameSite = given.sameSite === 'None' ? 'explicitNone' : String(given.sameSite).toLowerCase();
  if (defined(given.expires)) {
    const at = given.expires instanceof Date ? given.expires.getTime() : typeof given.expires === 'number' ? given.expires : Date.parse(given.expires);
    out.expires = { value: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 } };
  }
  return out;
}

module.exports = { Request, Response, httpOutput };
