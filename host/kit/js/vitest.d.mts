import type { TestAPI } from 'vitest';
import type { Host, Options } from './index.js';

/** A test whose fixture host is a host of its own, started with hostOptions: test.extend({ hostOptions: { … } }). */
export declare const test: TestAPI<{ hostOptions: Options; host: Host }>;
export declare const it: typeof test;
