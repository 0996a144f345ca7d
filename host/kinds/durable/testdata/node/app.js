// Orchestrators for the rows of the tests; see rows_test.go.
const df = require("durable-functions");
const { app } = require("@azure/functions");

const HOUR = 3600 * 1000, DAY = 24 * HOUR;
const after = (context, ms) => new Date(context.df.currentUtcDateTime.getTime() + ms);
const orchestrators = {
  *Chain(context) {
    const names = [];
    for (const city of ["Tokyo", "Seattle", "London"]) names.push(yield context.df.callActivity("Hello", city));
    return names;
  },
  *FanOut(context) {
    const tasks = [];
    for (let i = 0; i < context.df.getInput(); i++) tasks.push(context.df.callActivity("Double", i));
    return (yield context.df.Task.all(tasks)).reduce((a, b) => a + b, 0);
  },
  *RetryTwice(context) {
    const options = new df.RetryOptions(HOUR, 4);
    options.backoffCoefficient = 2;
    return yield context.df.callActivityWithRetry("Flaky", options, { id: context.df.instanceId, failures: 2 });
  },
  *RetryOut(context) {
    return yield context.df.callActivityWithRetry("Fail", new df.RetryOptions(60000, 3), "no stock");
  },
  *RetryCaught(context) {
    try {
      yield context.df.callActivityWithRetry("Fail", new df.RetryOptions(60000, 3), "no stock");
    } catch (e) {
      return "caught " + e.message.split("\n")[0].trim();
    }
  },
  *RetryMax(context) {
    const options = new df.RetryOptions(60000, 3);
    options.backoffCoefficient = 10;
    options.maxRetryIntervalInMilliseconds = 90000;
    try {
      yield context.df.callActivityWithRetry("Fail", options, "no");
    } catch (e) {
      return "gave up";
    }
  },
  *RetryTimeout(context) {
    const options = new df.RetryOptions(60000, 5);
    options.retryTimeoutInMilliseconds = 90000;
    yield context.df.callActivityWithRetry("Fail", options, "no");
  },
  *Timer(context) {
    yield context.df.createTimer(after(context, context.df.getInput() * 1000));
    return context.df.currentUtcDateTime.toISOString();
  },
  *Race(context) {
    const { cancel, error, days } = context.df.getInput();
    const timer = context.df.createTimer(after(context, (days ? days * DAY : 72 * HOUR)));
    const event = context.df.waitForExternalEvent("ok");
    const first = yield context.df.Task.any([timer, event]);
    if (first === timer) return "escalated";
    if (cancel) timer.cancel();
    if (error) throw new Error(error);
    if (days) yield context.df.callActivity("Hello", "x");
    return event.result;
  },
  *Twice(context) {
    const a = context.df.callActivity("Hello", "a"), b = context.df.callActivity("Hello", "b");
    yield context.df.Task.any([a, b]);
    return yield context.df.Task.all([a, b, context.df.callActivity("Hello", "c")]);
  },
  *AllFails(context) {
    try {
      yield context.df.Task.all([context.df.callActivity("Fail", "x"), context.df.createTimer(after(context, HOUR))]);
    } catch (e) {
      return yield context.df.callActivity("Hello", "Undo");
    }
  },
  *LateEvent(context) {
    yield context.df.createTimer(after(context, HOUR));
    return yield context.df.waitForExternalEvent("go");
  },
  *TwoEvents(context) {
    yield context.df.createTimer(after(context, HOUR));
    return [yield context.df.waitForExternalEvent("go"), yield context.df.waitForExternalEvent("go")];
  },
  *WaitsFor(context) {
    return yield context.df.waitForExternalEvent("go");
  },
  *Parent(context) {
    return yield context.df.callSubOrchestrator("Chain", null);
  },
  *BadParent(context) {
    return yield context.df.callSubOrchestratorWithRetry("Throws", new df.RetryOptions(1000, 2), null);
  },
  *OwnId(context) {
    return yield context.df.callSubOrchestrator("Chain", null, context.df.instanceId);
  },
  *Year(context) {
    const day = context.df.getInput() || 0;
    if (day === 365) return day;
    yield context.df.createTimer(after(context, DAY));
    context.df.continueAsNew(day + 1);
  },
  *Drops(context) {
    if (context.df.getInput() === 1) return "second";
    yield context.df.createTimer(after(context, HOUR));
    context.df.continueAsNew(1);
  },
  *LateThrow(context) {
    context.df.continueAsNew(1);
    throw new Error("late");
  },
  *Status(context) {
    context.df.setCustomStatus("a".repeat(context.df.getInput()));
    yield context.df.callActivity("Hello", "x");
    return "set";
  },
  *NoError(context) {
    if (context.df.getInput()) yield context.df.callActivity("Hello", "x");
    throw { a: 1 };
  },
  *Throws() {
    throw new Error("boom");
  },
  *Nobody(context) {
    return yield context.df.callActivity("Nope", 1);
  },
  *Hangs(context) {
    try {
      yield context.df.callActivity("Hang");
    } catch (e) {
      return e.message.split("\n")[0].trim();
    }
  },
  *Exits(context) {
    try {
      yield context.df.callActivity("Exit");
    } catch (e) {
      return e.message.split("\n")[0].trim();
    }
  },
  *Echo(context) {
    const values = [1, 1.5, "x", "1", { i: 0 }, [1, 2], false, "", null];
    const back = [];
    for (const v of values) back.push(yield context.df.callActivity("Same", v));
    return back;
  },
  *Off(context) {
    try {
      yield context.df.callActivity("Disabled");
    } catch (e) {
      return e.message.split("\n")[0].trim();
    }
  },
};
for (const [name, handler] of Object.entries(orchestrators)) df.app.orchestration(name, handler);

const attempts = new Map();
const activities = {
  Hello: (name) => `Hello, ${name}!`,
  Double: (n) => 2 * n,
  Same: (v) => v,
  Fail: (text) => {
    throw new Error(text);
  },
  Flaky: ({ id, failures }) => {
    const n = (attempts.get(id) || 0) + 1;
    attempts.set(id, n);
    if (n <= failures) throw new Error("payment service unavailable");
    return `attempt ${n}`;
  },
  Hang: () => new Promise(() => setInterval(() => {}, 1000)),
  Exit: () => process.exit(7),
  Disabled: () => "never",
};
for (const [name, handler] of Object.entries(activities)) df.app.activity(name, { handler });

app.http("Start", {
  route: "start/{name}/{id}", authLevel: "anonymous", extraInputs: [df.input.durableClient()],
  handler: async (request, context) => {
    const client = df.getClient(context);
    const id = await client.startNew(request.params.name, { instanceId: request.params.id, input: await request.text() });
    return client.createCheckStatusResponse(request, id);
  },
});
app.http("Wait", {
  route: "wait/{id}", authLevel: "anonymous", extraInputs: [df.input.durableClient()],
  handler: async (request, context) =>
    df.getClient(context).waitForCompletionOrCreateCheckStatusResponse(request, request.params.id, { timeoutInMilliseconds: 10000, retryIntervalInMilliseconds: 1000 }),
});
app.http("Payload", {
  route: "payload/{id}", authLevel: "anonymous", extraInputs: [df.input.durableClient()],
  handler: async (request, context) => ({ jsonBody: df.getClient(context).createHttpManagementPayload(request.params.id) }),
});
