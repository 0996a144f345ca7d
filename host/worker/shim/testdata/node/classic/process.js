exports.run = (context, what) => {
  switch (what) {
    case 'exit': return process.exit(3);
    case 'throw': return void setTimeout(() => { throw new Error('nobody waits'); });
    case 'reject': return void Promise.reject(new Error('nobody handles'));
    case 'binary': process.stdout.write(Buffer.from([0, 255, 13, 10, 1])); return context.done(null, { out: 'written' });
    case 'never': return;
  }
  context.done();
};
