const { inspect } = require('util');

exports.request = async (context, req) => {
  const out = { method: req.method, url: req.url, query: req.query, params: req.params, headers: req.headers, body: req.body, rawBody: req.rawBody, get: req.get('X-A'), same: context.req === req, user: req.user && req.user.username };
  context.res = { body: inspect(out, { depth: 5, breakLength: Infinity, compact: true }) };
};
exports.form = async (context, req) => {
  const form = req.parseFormBody();
  context.res = { body: [...form].map(([name, part]) => `${name}=${part.value}|${part.fileName}|${part.contentType}`).join('&') + ` ${form.length} ${form.has('a')} ${form.getAll('a').length} ${form.get('none')}` };
};

const responses = {
  status: { status: 201, headers: { 'X-A': 1, 'X-None': null }, body: 'text' },
  statusCode: { statusCode: '202', status: 203 },
  json: { body: { a: 1 } },
  bytes: { body: Buffer.from([0, 255]) },
  unknown: { hello: 1 },
  text: 'no object',
  list: [1],
  cookies: { cookies: [
    { name: 'a', value: 'b c', domain: 'd', path: '/p', secure: true, httpOnly: false, maxAge: '60', sameSite: 'None', expires: new Date(1000 * 1000) },
    { name: 'b', value: '', sameSite: 'Lax', expires: 5400 }, { name: 'c' },
  ] },
  badCookie: { cookies: [{ name: 7, value: 'x' }] },
};

exports.res = async (context, req) => { context.res = responses[req.query.name]; };
exports.return = async (context, req) => responses[req.query.name];
exports.express = (context, req) => {
  const { res } = context;
  switch (req.query.name) {
    case 'send': return res.status(202).set('X-A', 'b').type('text/html').send('<p>');
    case 'json': return res.json({ a: 1 });
    case 'sendStatus': return res.sendStatus(204);
    case 'buffer': return res.end(Buffer.from([1, 2]));
    case 'removed': return res.header('X-A', '1').removeHeader('x-a').send(String(res.get('x-a')));
  }
};
