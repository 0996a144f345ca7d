// The module @azure/functions-core, for the configuration of a loader: no test calls it.
declare const core: object;
export = core;
