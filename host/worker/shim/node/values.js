'use strict';
// Values on the wire, as the programming models know them, and back. On the wire bytes
// are Base64 and 64-bit numbers are text.

/** The member of a value that is set, as a model has it: bytes are a Buffer. */
function decode(data) {
  if (!data) return {};
  if (data.bytes !== undefined) return { bytes: Buffer.from(data.bytes, 'base64') };
  if (data.stream !== undefined) return { stream: Buffer.from(data.stream, 'base64') };
  if (data.int !== undefined) return { int: number(data.int) };
  if (data.collectionBytes) return { collectionBytes: { bytes: (data.collectionBytes.bytes || []).map((b) => Buffer.from(b, 'base64')) } };
  if (data.collectionString) return { collectionString: { string: data.collectionString.string || [] } };
  if (data.collectionDouble) return { collectionDouble: { double: data.collectionDouble.double || [] } };
  if (data.collectionSint64) return { collectionSint64: { sint64: (data.collectionSint64.sint64 || []).map(number) } };
  if (data.modelBindingData) return { modelBindingData: modelBinding(data.modelBindingData) };
  if (data.collectionModelBindingData) {
    return { collectionModelBindingData: { modelBindingData: (data.collectionModelBindingData.modelBindingData || []).map(modelBinding) } };
  }
  if (data.http) {
    const http = Object.assign({}, data.http);
    for (const part of ['body', 'rawBody']) {
      if (http[part]) http[part] = decode(http[part]);
    }
    return { http };
  }
  return data;
}

const modelBinding = (data) => Object.assign({}, data, { content: Buffer.from(data.content || '', 'base64') });

/** A 64-bit number of the wire; one that is not exact stays text. */
function number(text) {
  const n = Number(text);
  return Number.isSafeInteger(n) ? n : text;
}

/** A value of a model as it travels; undefined for none. */
function encode(data) {
  if (data === null || data === undefined) return undefined;
  const out = {};
  if (defined(data.string)) out.string = String(data.string);
  else if (defined(data.json)) out.json = String(data.json);
  else if (defined(data.bytes)) out.bytes = base64(data.bytes);
  else if (defined(data.stream)) out.stream = base64(data.stream);
  else if (defined(data.int)) Object.assign(out, whole(data.int));
  else if (defined(data.double)) out.double = Number.isFinite(data.double) ? data.double : String(data.double);
  else if (defined(data.http)) out.http = encodeHttp(data.http);
  else if (defined(data.collectionBytes)) out.collectionBytes = { bytes: (data.collectionBytes.bytes || []).map(base64) };
  else if (defined(data.collectionString)) out.collectionString = { string: (data.collectionString.string || []).map(String) };
  else if (defined(data.collectionDouble)) out.collectionDouble = { double: data.collectionDouble.double || [] };
  else if (defined(data.collectionSint64)) out.collectionSint64 = { sint64: (data.collectionSint64.sint64 || []).map(String) };
  return out;
}

/** A whole number; one that does not fit into 64 bits is a double. */
function whole(value) {
  const n = Number(value);
  return n >= -(2 ** 63) && n < 2 ** 63 ? { int: BigInt(value).toString() } : { double: n };
}

const defined = (v) => v !== null && v !== undefined;

function base64(bytes) {
  return Buffer.from(bytes.buffer ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes).toString('base64');
}

const sameSites = { none: 'None', lax: 'Lax', strict: 'Strict', explicitnone: 'ExplicitNone' };

function encodeHttp(http) {
  const out = {};
  if (defined(http.statusCode)) out.statusCode = String(http.statusCode);
  if (http.headers) {
    out.headers = {};
    for (const [name, value] of Object.entries(http.headers)) {
      if (defined(value)) out.headers[name] = String(value);
    }
  }
  if (http.enableContentNegotiation) out.enableContentNegotiation = true;
  const body = encode(http.body);
  if (body !== undefined) out.body = body;
  if (http.cookies && http.cookies.length > 0) out.cookies = http.cookies.map(encodeCookie);
  return out;
}

function encodeCookie(cookie) {
  const out = { name: cookie.name, value: cookie.value };
  for (const name of ['domain', 'path', 'secure', 'httpOnly', 'maxAge']) {
    if (cookie[name] && defined(cookie[name].value)) out[name] = { value: cookie[name].value };
  }
  if (cookie.expires && cookie.expires.value) {
    const at = cookie.expires.value;
    out.expires = { value: new Date(Number(at.seconds || 0) * 1000 + Math.floor((at.nanos || 0) / 1e6)).toISOString() };
  }
  if (typeof cookie.sameSite === 'string') out.sameSite = sameSites[cookie.sameSite.toLowerCase()] || 'None';
  return out;
}

/** A value of user code as a model gives it back. */
function typed(value) {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return { string: value };
  if (Buffer.isBuffer(value)) return { bytes: value };
  if (ArrayBuffer.isView(value)) return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) };
  if (typeof value === 'number') return Number.isInteger(value) ? { int: value } : { double: value };
  return { json: JSON.stringify(value) };
}

/** What user code gets of a value. Text that is JSON is parsed. */
function plain(data) {
  if (!data) return undefined;
  const text = data.string || data.json;
  if (text !== undefined) return parsed(text);
  if (defined(data.bytes)) return data.bytes;
  if (defined(data.stream)) return data.stream;
  if (defined(data.int)) return data.int;
  if (defined(data.double)) return data.double;
  if (data.collectionBytes) return data.collectionBytes.bytes;
  if (data.collectionString) return data.collectionString.string;
  if (data.collectionDouble) return data.collectionDouble.double;
  if (data.collectionSint64) return data.collectionSint64.sint64;
  return undefined;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An attempt as the programming models know it. */
function decodeRequest(request) {
  const metadata = {};
  for (const [name, value] of Object.entries(request.triggerMetadata || {})) metadata[name] = decode(value);
  const { retryContext: retry } = request;
  return Object.assign({}, request, {
    inputData: (request.inputData || []).map((input) => ({ name: input.name, data: decode(input.data) })),
    triggerMetadata: metadata,
    traceContext: Object.assign({ traceParent: '', traceState: '', attributes: {} }, request.traceContext),
    retryContext: retry ? Object.assign({ retryCount: 0, maxRetryCount: 0 }, retry, exception(retry)) : null,
  });
}

const exception = ({ exception: e }) => e && { exception: Object.assign({ message: '', source: '', stackTrace: '' }, e) };

module.exports = { decodeRequest, encode, typed, plain, defined };
