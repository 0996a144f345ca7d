const { app } = require('@azure/functions');
const core = require('@azure/functions-core');

app.setup({ capabilities: { OfTheApp: 'yes' } });
let started = 0;
app.hook.appStart(() => { started++; });
app.hook.preInvocation((context) => {
  if (context.inputs[0] && context.inputs[0].swap) {
    context.inputs[0] = { id: 'swapped' };
    context.functionHandler = async (order) => `swapped ${order.id} ${started}`;
  }
});
app.hook.postInvocation((context) => {
  if (context.error && context.error.message === 'mended') {
    context.error = null;
    context.result = 'mended';
  }
});
app.hook.appTerminate(() => console.log('terminated by hook'));

core.registerFunction({ name: 'gone', bindings: {} }, () => {}).dispose();
core.log('warning', 'user', `core ${typeof core.version} ${core.hostVersion} ${core.getProgrammingModel().name}`);
try {
  core.registerHook('noSuchHook', () => {});
} catch (error) {
  core.log('information', 'user', error.constructor.name);
}
