const { app } = require('@azure/functions');

app.setup({ enableHttpStream: true });
app.http('stream', {
  route: 'stream/{id}', methods: ['POST'], authLevel: 'anonymous', name: 'request',
  handler: async (request) => {
    if (request.query.get('fail')) throw new Error('boom');
    let size = 0;
    for await (const chunk of request.body) size += chunk.length;
    return { status: 201, headers: { 'x-a': 'b' }, cookies: [{ name: 'c', value: 'd e', path: '/' }, { name: 'f', value: 'g' }], body: `${request.params.id} ${size} ${request.headers.get('x-h')}` };
  },
});
