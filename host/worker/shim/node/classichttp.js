'use strict';
// Requests and responses of HTTP-triggered functions of function.json apps.

const { plain, typed, defined } = require('./values');
const { parseForm } = require('./classicform');

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
        this.body = http.body.bytes;
        this.rawBody = http.body.bytes.toString();
      } else {
        this.rawBody = text(http.body.bytes) || undefined;
        this.body = plain({ string: this.rawBody });
      }
    }
  }

  /** Who has signed in, as the service in front of the app says. */
  get user() {
    const principal = this.headers['x-ms-client-principal'];
    if (!principal) return null;
    const claimsPrincipalData = JSON.parse(Buffer.from(principal, 'base64').toString());
    if (claimsPrincipalData.identityProvider) {
      const { userId: id, userDetails: username, identityProvider } = claimsPrincipalData;
      return { type: 'StaticWebApps', id, username, identityProvider, claimsPrincipalData };
    }
    const header = (name) => this.headers['x-ms-client-principal-' + name];
    return { type: 'AppService', id: header('id'), username: header('name'), identityProvider: header('idp'), claimsPrincipalData };
  }

  parseFormBody() {
    const type = this.get('content-type');
    if (!type) throw new Error('The request has no header "content-type", so that its form cannot be read.');
    return parseForm(this.body, type);
  }

  get(name) {
    return this.headers[String(name).toLowerCase()];
  }
}

/** The text of a body, in the encoding that its byte order mark names. */
function text(bytes) {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return new TextDecoder(mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8').decode(bytes);
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
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new Error(`The HTTP response must be an object, which may have a body, a status and headers; it is ${Array.isArray(value) ? 'an array' : 'of type ' + typeof value}.`);
  }
  const given = value || {};
  const status = given.statusCode || (typeof given.status === 'function' ? undefined : given.status);
  const http = { headers: headers(given.headers), cookies: (given.cookies || []).map(cookie), enableContentNegotiation: Boolean(given.enableContentNegotiation) };
  if (defined(status)) http.statusCode = String(status);
  if (given.body !== undefined) http.body = typed(given.body);
  return { http };
}

function headers(given) {
  const out = {};
  for (const [name, value] of Object.entries(given || {})) if (defined(value)) out[name] = String(value);
  return out;
}

/** A cookie as it travels; optional parts are objects. The host escapes the value. */
function cookie(given) {
  const out = { name: textOf(given, 'name'), value: textOf(given, 'value') };
  for (const [name, type] of [['domain', 'string'], ['path', 'string'], ['secure', 'boolean'], ['httpOnly', 'boolean']]) {
    if (defined(given[name])) out[name] = { value: checked(given, name, type) };
  }
  const age = given.maxAge;
  if (defined(age)) out.maxAge = { value: typeof age === 'string' && !isNaN(age) ? parseFloat(age) : checked(given, 'maxAge', 'number') };
  const sameSite = String(given.sameSite || '').toLowerCase();
  if (['lax', 'strict', 'none'].includes(sameSite)) out.sameSite = sameSite === 'none' ? 'explicitNone' : sameSite;
  if (defined(given.expires)) {
    const at = given.expires instanceof Date ? given.expires.getTime() : given.expires;
    if (typeof at !== 'number') throw new Error(`cookie.expires must be a Date or a number, and is of type ${typeof at}.`);
    if (at > 0) out.expires = { value: { seconds: Math.round(at / 1000) } };
  }
  return out;
}

const textOf = (given, name) => (defined(given[name]) ? checked(given, name, 'string') : '');

/** A part of a cookie, whose type must be that one. */
function checked(given, name, type) {
  if (typeof given[name] === type) return given[name];
  throw new Error(`cookie.${name} must be of type ${type}, and is of type ${typeof given[name]}.`);
}

module.exports = { values, Request, Response, httpOutput };
