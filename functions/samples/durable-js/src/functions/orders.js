// An order as orchestrations: what is paid, approved, watched and counted. The scenarios in
// the folder tests run them through months within a second.
const { app } = require('@azure/functions');
const df = require('durable-functions');

const MINUTE = 60 * 1000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const after = (context, ms) => new Date(context.df.currentUtcDateTime.getTime() + ms);

// patient tries 4 times, after 1 h, 2 h and 4 h.
const patient = new df.RetryOptions(HOUR, 4);
patient.backoffCoefficient = 2;

// A chain: each activity gets what the one before has returned.
df.app.orchestration('Chain', function* (context) {
  const order = yield context.df.callActivity('Reserve', context.df.getInput());
  const paid = yield context.df.callActivity('Charge', order);
  return yield context.df.callActivity('Ship', paid);
});

// A payment that is tried again for hours.
df.app.orchestration('Pay', function* (context) {
  return yield context.df.callActivityWithRetry('Charge', patient, context.df.getInput());
});

// An approval within 72 hours, or else the order is escalated.
df.app.orchestration('Approval', function* (context) {
  const deadline = context.df.createTimer(after(context, 72 * HOUR));
  const decision = context.df.waitForExternalEvent('Approved');
  context.df.setCustomStatus('waits for a decision');
  if ((yield context.df.Task.any([decision, deadline])) === deadline) {
    return yield context.df.callActivity('Escalate', context.df.getInput());
  }
  deadline.cancel();
  return decision.result ? 'approved' : 'rejected';
});

// Many parcels at once. What has failed is told in the end.
df.app.orchestration('ShipAll', function* (context) {
  const parcels = context.df.getInput();
  const tasks = Array.from({ length: parcels }, (_, i) => context.df.callSubOrchestrator('ShipOne', `p${i}`));
  const done = yield context.df.Task.all(tasks);
  return { shipped: done.filter(ok => ok).length, lost: done.filter(ok => !ok).length };
});
df.app.orchestration('ShipOne', function* (context) {
  try {
    yield context.df.callActivity('Ship', context.df.getInput());
    return true;
  } catch {
    return false;
  }
});
df.app.orchestration('Sum', function* (context) {
  const tasks = [];
  for (let i = 0; i < context.df.getInput(); i++) tasks.push(context.df.callActivity('Count', i));
  return (yield context.df.Task.all(tasks)).reduce((a, b) => a + b, 0);
});

// A saga: what is done already is undone, the last first, when a later step fails.
df.app.orchestration('Saga', function* (context) {
  const order = context.df.getInput(), undo = [];
  try {
    yield context.df.callActivity('Reserve', order);
    undo.push('Release');
    yield context.df.callActivityWithRetry('Charge', patient, order);
    undo.push('Refund');
    yield context.df.callActivity('Ship', order);
    return 'shipped';
  } catch (e) {
    for (const step of undo.reverse()) yield context.df.callActivity(step, order);
    throw e;
  }
});

// A monitor looks every day, for a year at most.
df.app.orchestration('Monitor', function* (context) {
  const day = context.df.getInput() || 0;
  if ((yield context.df.callActivity('Look', day)) === 'arrived' || day === 365) return day;
  yield context.df.createTimer(after(context, DAY));
  context.df.continueAsNew(day + 1);
});

// A reminder in ten days: the host cuts the timer into pieces of three days.
df.app.orchestration('Remind', function* (context) {
  yield context.df.createTimer(after(context, 10 * DAY));
  return yield context.df.callActivity('Mail', context.df.getInput());
});

// A conversation: events in the order in which they are asked for.
df.app.orchestration('Basket', function* (context) {
  const items = [];
  for (;;) {
    const item = yield context.df.waitForExternalEvent('Add');
    if (item === 'pay') break;
    items.push(item);
    context.df.setCustomStatus({ items: items.length });
  }
  return items;
});

// An order of several shops, each an orchestration of its own.
df.app.orchestration('Shops', function* (context) {
  const tasks = context.df.getInput().map(shop => context.df.callSubOrchestrator('Pay', shop, `${context.df.instanceId}-${shop}`));
  return yield context.df.Task.all(tasks);
});

// A stock that many signal, and one reads.
df.app.entity('stock', context => {
  const count = context.df.getState(() => 0);
  switch (context.df.operationName) {
    case 'add': context.df.setState(count + context.df.getInput()); break;
    case 'get': context.df.return(count); break;
    case 'close': context.df.destructOnExit(); break;
  }
});
df.app.orchestration('Restock', function* (context) {
  const stock = new df.EntityId('stock', context.df.getInput());
  yield context.df.callEntity(stock, 'add', 5);
  return yield context.df.callEntity(stock, 'get');
});

// The work itself. The scenarios put scripts in its place.
df.app.activity('Reserve', { handler: order => order });
df.app.activity('Charge', { handler: order => order });
df.app.activity('Ship', { handler: order => order });
df.app.activity('Release', { handler: order => order });
df.app.activity('Refund', { handler: order => order });
df.app.activity('Escalate', { handler: order => `escalated ${order}` });
df.app.activity('Count', { handler: i => i });
df.app.activity('Look', { handler: day => (day === 365 ? 'arrived' : 'on its way') });
df.app.activity('Mail', { handler: to => `mail to ${to}` });

// Whoever posts an order starts its saga, and gets the addresses to ask for it.
app.http('PlaceOrder', {
  methods: ['POST'],
  route: 'orders/{id}',
  authLevel: 'anonymous',
  extraInputs: [df.input.durableClient()],
  handler: async (request, context) => {
    const client = df.getClient(context);
    const id = await client.startNew('Saga', { instanceId: request.params.id, input: await request.json() });
    return client.createCheckStatusResponse(request, id);
  },
});
