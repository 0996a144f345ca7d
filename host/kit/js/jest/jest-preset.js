'use strict';
// jest has a loader of its own: it learns here where @azure/functions-core is.

module.exports = {
  testEnvironment: 'node',
  moduleNameMapper: { '^@azure/functions-core$': require.resolve('../core.js') },
  setupFilesAfterEnv: [require.resolve('./setup.js')],
};
