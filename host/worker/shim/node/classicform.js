'use strict';
// Forms in the body of a request of a function.json app.

/** The fields of a form in their order. */
class Form {
  #fields;

  constructor(fields) {
    this.#fields = fields;
  }

  get(name) {
    const found = this.#fields.find(([key]) => key === name);
    return found ? found[1] : null;
  }

  getAll(name) {
    return this.#fields.filter(([key]) => key === name).map(([, part]) => part);
  }

  has(name) {
    return this.get(name) !== null;
  }

  get length() {
    return this.#fields.length;
  }

  [Symbol.iterator]() {
    return this.#fields[Symbol.iterator]();
  }
}

/** Reads a body: a Buffer, or text. */
function parseForm(body, contentType) {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim());
  switch (type.toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return new Form([...new URLSearchParams(String(body))].map(([name, value]) => [name, { value: Buffer.from(value) }]));
    case 'multipart/form-data':
      return new Form(multipart(Buffer.from(body), parameter(parameters, 'boundary')));
  }
  throw new Error(`The body is of type "${type}", and forms are "multipart/form-data" or "application/x-www-form-urlencoded".`);
}

/** The value of a parameter, such as name="file". */
function parameter(parameters, name) {
  for (const text of parameters) {
    const at = text.indexOf('=');
    if (text.slice(0, at).trim().toLowerCase() === name) return text.slice(at + 1).trim().replace(/^"(.*)"$/, '$1');
  }
  return undefined;
}

function multipart(body, boundary) {
  if (!boundary) throw new Error('The content type of the form has no "boundary".');
  const fields = [];
  const line = Buffer.from(`--${boundary}`);
  let at = body.indexOf(line);
  while (at >= 0) {
    const start = at + line.length;
    const next = body.indexOf(line, start);
    if (next < 0) break;
    const part = body.subarray(start + 2, next - 2); // without the ends of the lines
    const split = part.indexOf('\r\n\r\n');
    const field = split >= 0 && fieldOf(part.subarray(0, split).toString(), part.subarray(split + 4));
    if (field) fields.push(field);
    at = next;
  }
  return fields;
}

function fieldOf(head, value) {
  const part = { value };
  let name;
  for (const text of head.split('\r\n')) {
    const at = text.indexOf(':');
    const parameters = text.slice(at + 1).split(';').map((one) => one.trim());
    switch (text.slice(0, at).trim().toLowerCase()) {
      case 'content-disposition': {
        name = parameter(parameters, 'name');
        const file = parameter(parameters, 'filename');
        if (file !== undefined) part.fileName = file;
        break;
      }
      case 'content-type':
        part.contentType = text.slice(at + 1).trim();
    }
  }
  return name === undefined ? undefined : [name, part];
}

module.exports = { parseForm };
