/// <reference lib="esnext.disposable" />

/** Text as in scenarios, "30s", "2d", "00:15:00", or units. */
export type Span = string | { days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number };

/** A body: bytes and text travel as they are, all else as JSON. */
export type Body = unknown;

export interface HandlerContext {
  invocationId: string;
  functionName: string;
  triggerMetadata: Record<string, unknown>;
  retryContext?: { retryCount: number; maxRetryCount: number; exception?: { message?: string } };
  extraInputs: unknown[];
  log(...args: unknown[]): void;
  error(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  info(...args: unknown[]): void;
}

/** A function as in a scenario. */
export interface FunctionSpec {
  trigger?: { type: string; [member: string]: unknown };
  bindings?: Array<Record<string, unknown>>;
  retry?: Record<string, unknown>;
  redeliver?: Record<string, unknown>;
  /** A function of the test, or a script, such as "fail". */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  handler?: ((item: any, context: HandlerContext) => unknown) | string | Record<string, unknown> | unknown[];
}

export interface Options {
  /** Imports the modules that declare functions: () => import('../src/functions/ship.js'). They run in this process. */
  import?: () => Promise<unknown>;
  /** The folder of an app, or its file: URL. Without import its handlers run in a process of their own; with it, and without app, it is the folder of the nearest host.json from the current one up. */
  app?: string | URL;
  functions?: Record<string, FunctionSpec>;
  /** Laid over host.json. */
  host?: Record<string, unknown>;
  settings?: Record<string, string>;
  /** Switches. */
  set?: Record<string, unknown> | string[];
  /** 1 unless given, or that of REDELIVER_SEED. */
  seed?: number;
  start?: Date | string;
  /** The real limit of a handler or a call, in seconds; 30 unless given. */
  timeout?: number | string;
  ports?: boolean;
  instances?: boolean;
  /** Of the test. */
  name?: string;
}

export interface Attempt {
  function: string;
  messageId?: string;
  invocationId: string;
  deliveryId: string;
  delivery: number;
  deliveryCount: number;
  attempt: number;
  retryCount: number;
  maxRetryCount: number | null;
  started: Date;
  ended?: Date;
  tookMs: number;
  status: 'running' | 'succeeded' | 'failed' | 'timed_out' | 'lost';
  error?: { type?: string; message: string; stack?: string };
  decision?: 'retry' | 'exhausted' | 'permanent' | 'cancelled';
  nextDelay?: string;
  settled?: string;
  logs: string[];
}

export interface Message {
  id: string;
  body: Uint8Array;
  deliveryCount: number;
  enqueued?: Date;
  state?: string;
  properties?: Record<string, unknown>;
  reason?: string;
  description?: string;
  source?: string;
  lastError?: string;
  text(): string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json(): any;
}

export interface Response {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Uint8Array;
  text(): string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json(): any;
}

/** A record of the journal. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type JournalRecord = { seq: number; time: string; kind: string; [member: string]: any };

export type Point = 'afterReceive' | 'beforeHandler' | 'afterHandler' | 'betweenAttempts' | 'beforeSettle' | 'afterSettle' | 'afterCheckpoint';

export interface Clock {
  now(): Promise<Date>;
  advance(by: Span): Promise<Date>;
  next(): Promise<Date>;
  jump(by: Span): Promise<Date>;
  /** Waits for virtual time, in a handler; a number is milliseconds, as for setTimeout. Time goes on meanwhile. */
  sleep(by: Span | number, options?: { signal?: AbortSignal }): Promise<void>;
}

export declare class Host {
  private constructor();
  readonly seed: number;
  readonly clock: Clock;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;

  send(queue: string, body: Body, options?: { raw?: boolean; visibility?: Span; ttl?: Span }): Promise<string>;
  sendServiceBus(path: string, body: Body, options?: {
    messageId?: string; session?: string; subject?: string; contentType?: string; correlationId?: string; properties?: Record<string, string>; delay?: Span;
  }): Promise<string>;
  publish(topic: string, events: unknown): Promise<string[]>;
  sendEvents(hub: string, bodies: Body[], options?: { key?: string }): Promise<void>;
  upload(path: string, data: Body, options?: { contentType?: string }): Promise<void>;
  write(container: string, documents: unknown): Promise<string[]>;
  request(method: string, path: string, options?: { body?: Body; headers?: Record<string, string> }): Promise<Response>;
  call(name: string, input?: Body): Promise<{ succeeded: boolean; attempts: number; error?: string }>;

  settled(name?: string): Promise<JournalRecord>;
  completed(name?: string): Promise<JournalRecord>;
  poisoned(name?: string): Promise<JournalRecord>;
  checkpointed(name?: string): Promise<JournalRecord>;
  deadLettered(path?: string): Promise<JournalRecord>;
  until(pattern: Record<string, unknown>): Promise<JournalRecord>;
  idle(): Promise<Date>;

  attempts(name?: string): Promise<Attempt[]>;
  deliveries(name: string): Promise<number[]>;
  explain(message?: string): Promise<string>;
  queue(name: string): Promise<Message[]>;
  serviceBus(path: string): Promise<Message[]>;
  blob(path: string): Promise<Uint8Array>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  documents(container: string): Promise<any[]>;
  outputs(name: string): Promise<Array<Record<string, unknown>>>;
  journal(pattern?: Record<string, unknown>): Promise<JournalRecord[]>;
  logs(name?: string): Promise<string[]>;

  expect(then: Record<string, unknown>): Promise<void>;

  fault(fault: {
    service?: string; entity?: string; operation?: string; after?: boolean; lost?: boolean; error?: string; status?: number; latency?: Span; times?: number;
  }): Promise<void>;
  failOutput(name: string, options?: { times?: number; error?: string }): Promise<void>;
  expireLocks(path: string): Promise<void>;
  crash(): Promise<void>;
  crashAt(name: string, point: Point, nth?: number): Promise<void>;
  startAgain(): Promise<void>;
  restart(): Promise<void>;
  scaleOut(): Promise<void>;
  save(): Promise<Uint8Array>;
  load(state: Uint8Array): Promise<void>;
  reset(): Promise<void>;
}

/** What was expected has not happened: an AssertionError of assert. */
export declare class Failure extends Error {}

/** The kit refused a call. */
export declare class KitError extends Error {
  readonly code: string;
  readonly hint: string;
}

/** A call, or a handler, took longer than the limit. */
export declare class KitTimeout extends KitError {}

/** Starts a host. */
export declare function start(options?: Options): Promise<Host>;

/** That many seeds. */
export declare function seeds(count: number, first?: number): number[];

export declare const redeliver: { start: typeof start; seeds: typeof seeds };
