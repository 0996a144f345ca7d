// Vitest: a test that has a host of its own. import { test } from '@redeliver/testing/vitest'.
import { test as base } from 'vitest';
import testing from './index.js';

export const test = base.extend({
  hostOptions: {},
  host: async ({ hostOptions, task, onTestFailed }, use) => {
    const host = await testing.start({ name: task.name, ...hostOptions });
    let failed = false;
    onTestFailed(() => { failed = true; });
    try {
      await use(host);
      for (const error of (task.result && task.result.errors) || []) await testing.internal.tell(error, host);
    } finally {
      failed = failed || (task.result && task.result.state === 'fail');
      await host.stop().catch((error) => { if (!failed) throw error; });
    }
  },
});

export const it = test;
