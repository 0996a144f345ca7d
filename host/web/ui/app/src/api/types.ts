/** The answers of the control API that the page reads: schemas/openapi/control.json. */

export interface Policy {
  strategy: string;
  maxRetryCount: number;
  delayInterval?: string;
  minimumInterval?: string;
  maximumInterval?: string;
  source?: string;
  file?: string;
  line?: number;
}

export interface FunctionReport {
  name: string;
  trigger?: string;
  source?: string;
  inError: boolean;
  disabled?: string;
  notServed?: string;
  retry: Policy | null;
  ignoredRetry?: Policy;
  attemptsPerDelivery: number;
  attemptsUnbounded?: boolean;
  deliveries: number;
  deliveriesUnbounded?: boolean;
  totalAttempts: number;
  totalUnbounded?: boolean;
  waitTotal: { minimum?: string; maximum?: string; unbounded?: boolean };
  end?: string;
}

export interface Problem {
  kind?: string;
  id?: string;
  function?: string;
  file?: string;
  line?: number;
  column?: number;
  path?: string;
  reason?: string;
  message?: string;
  hint?: string;
}

export interface Report {
  functions: FunctionReport[];
  errors: Problem[];
  warnings: Problem[];
  lints: Problem[];
}

export interface ClockStatus {
  now: string;
  wall: string;
  virtual: boolean;
  mode?: string;
  due?: { at: string; wait: string; name?: string }[];
  realElapsedMs?: number;
  virtualElapsedMs?: number;
}

/** How one of several apps of a run stands. */
export interface Standing {
  name?: string;
  folder: string;
  state: string;
  generation: number;
}

export interface Status {
  version: string;
  pid: number;
  app: string;
  state: string;
  ready: boolean;
  generation: number;
  errors?: string[];
  apps?: Standing[];
  report?: Report;
  clock: ClockStatus;
}

export interface FunctionInfo {
  name: string;
  trigger?: string;
  source?: string;
  state: string;
  detail?: string;
}

export interface QueueInfo {
  name: string;
  count: number;
  visible: number;
  invisible: number;
}

export interface BusEntity {
  path: string;
  kind: string;
  active: number;
  scheduled: number;
  deferred: number;
  locked: number;
  deadLetter: number;
  transferDeadLetter: number;
}

export interface GridSubscription {
  name: string;
  state: string;
  pending: number;
  failures?: number;
  deadLetters?: number;
  next?: string;
  sparedUntil?: string;
  function?: string;
  endpoint?: string;
}

export interface GridTopic {
  name: string;
  subscriptions: GridSubscription[];
}

export interface HubInfo {
  name: string;
  partitions: {
    id: string;
    events: number;
    lastSequence: number;
    checkpoints: { consumerGroup: string; sequenceNumber: number | null; behind: number; error?: string }[];
  }[];
}

export interface CosmosContainer {
  path: string;
  documents: number;
  partitionKey: string;
  ranges: { id: string; documents: number }[];
  leases?: {
    container: string;
    functions?: string[];
    error?: string;
    ranges?: { range: string; function?: string; owner?: string; continuation?: string; pending: number | null; error?: string }[];
  }[];
}

export interface GridDelivery {
  topic: string;
  subscription: string;
  eventId: string;
  eventType: string;
  subject: string;
  next?: string;
  attempts: { outcome: string; time: string; status?: number }[];
  outcome?: string;
}

export interface Inventory {
  state: string;
  errors?: string[];
  functions: FunctionInfo[];
  queues: QueueInfo[];
  containers: { name: string; blobs: number; bytes: number }[];
  servicebus: BusEntity[];
  eventgrid: GridTopic[];
  eventhubs: HubInfo[];
  cosmos: CosmosContainer[];
  outputs: { function: string; binding: string; type: string; recorded: number; failing?: number }[];
  deliveries: GridDelivery[];
}

export interface Entry {
  seq: number;
  time: string;
  layer: string;
  delivery?: string;
  deliveryCount?: number;
  attempt?: number;
  text: string;
  decided?: string;
  then?: string;
  formula?: string;
}

export interface Life {
  message?: string;
  service?: string;
  number?: number;
  function?: string;
  trigger?: string;
  source?: string;
  policy?: string;
  expected?: string;
  deliveries: number;
  attempts: number;
  entries: Entry[];
  over: boolean;
  next: string;
  nextAt?: string;
}

export interface Told {
  now: string;
  lives: Life[];
  more?: number;
}

/** A message, event, document or blob as any service holds it. */
export interface ShownMessage {
  id: string;
  messageId?: string;
  state: string;
  deliveryCount?: number;
  enqueued?: string;
  visibleAt?: string;
  expires?: string;
  size: number;
  preview?: string;
  binary?: boolean;
  properties?: Record<string, string>;
  origin?: string;
  reason?: string;
}

export interface Messages {
  messages: ShownMessage[];
  more?: boolean;
}

/** What became of a message that was released or given up. */
export interface Moved {
  target?: string;
  newId?: string;
}

/** What a redrive has moved. */
export interface Redriven {
  from: string;
  to: string;
  moved: number;
  left: number;
  newId?: string;
}

export interface InvokeResult {
  succeeded: boolean;
  attempts: number;
  error?: string;
  response?: { statusCode: number; headers?: Record<string, string>; body?: string }; // the body in base64
}
