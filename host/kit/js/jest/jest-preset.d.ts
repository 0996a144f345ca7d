// The preset of jest, for a configuration that is written in TypeScript.
declare const preset: object;
export = preset;
