/**
 * What the control API answers. go test ./host/ops/all -run TestControlTable -update writes it from
 * the operations.
 */

/** App is an app as the page shows it. */
export interface App {
  endpoints: Endpoint[];
  findings: Finding[];
  functions: FunctionState[];
  generations: Generation[];
  settings: Setting[];
}

export interface Attempt {
  outcome: string;
  status?: number;
  time: string;
}

/** BlobInfo is a blob of the embedded storage account. */
export interface BlobInfo {
  container: string;
  contentType: string;
  etag: string;
  name: string;
  size: number;
}

/** BreakerState is the state of a circuit breaker. */
export interface BreakerState {
  /** closed, open, half-open */
  state: string;
  /** of an open one */
  until?: string;
}

/** BusEntities are the entities of the embedded Service Bus namespace. */
export interface BusEntities {
  servicebus: BusEntity[];
}

/** BusEntity is an entity of the embedded Service Bus namespace, and how many messages it holds. A topic can hold scheduled ones only. */
export interface BusEntity {
  /** locked ones count */
  active: number;
  deadLetter: number;
  deferred: number;
  kind: string;
  locked: number;
  /** "orders", "events/Subscriptions/all" */
  path: string;
  scheduled: number;
  settings: BusSettings;
  transferDeadLetter: number;
}

/** BusMessage is a Service Bus message as the control API shows it. */
export interface BusMessage {
  binary?: string;
  /** Body is the body when it is text, Binary (base64) when it is not. */
  body?: string;
  contentType?: string;
  correlationId?: string;
  deadLetterDescription?: string;
  deadLetterReason?: string;
  deadLetterSource?: string;
  enqueued: string;
  expires?: string;
  failedDeliveries: number;
  lockedUntil?: string;
  messageId: string;
  /** without the dead-letter reason */
  properties?: Record<string, unknown>;
  replyTo?: string;
  scheduledFor?: string;
  sequenceNumber: number;
  sessionId?: string;
  /** active, locked, deferred, scheduled */
  state: string;
  subject?: string;
  to?: string;
}

/** BusPeeked is a part of an entity or of one of its sub-queues. Count is all of it. */
export interface BusPeeked {
  count: number;
  entity: BusEntity;
  messages: BusMessage[];
  path: string;
}

/** BusSent says what became of a message that was sent. SequenceNumber is set for a message that waits for its time. */
export interface BusSent {
  messageId: string;
  path: string;
  scheduledFor?: string;
  sequenceNumber?: number;
}

/** BusSettings are the settings of an entity, under the names that they have at the service (spec messaging 1.1). Durations are ISO 8601, "PT1M"; one that is missing has no end, or in a new entity its default. */
export interface BusSettings {
  /** remove the entity when nobody has used it for this long */
  autoDeleteOnIdle?: string;
  /** dead-letter expired messages, instead of dropping them */
  deadLetteringOnMessageExpiration?: boolean;
  /** longest time to live of a message */
  defaultMessageTimeToLive?: string;
  /** how long IDs are remembered */
  duplicateDetectionHistoryTimeWindow?: string;
  /** false drops them */
  enableDeadLetteringOnFilterEvaluationExceptions?: boolean;
  /** queue or topic to which dead letters are forwarded */
  forwardDeadLetteredMessagesTo?: string;
  /** queue or topic to which all messages are forwarded */
  forwardTo?: string;
  /** life of a lock */
  lockDuration?: string;
  /** failed deliveries before a message is dead-lettered */
  maxDeliveryCount?: number;
  /** maximum size of one message in KB */
  maxMessageSizeInKilobytes?: number;
  /** maximum size of all messages together in MB */
  maxSizeInMegabytes?: number;
  /** drop messages whose ID was sent before */
  requiresDuplicateDetection?: boolean;
  /** require sessions */
  requiresSession?: boolean;
  /** Active, Disabled, SendDisabled or ReceiveDisabled */
  status?: string;
  /** text of your own */
  userMetadata?: string;
}

export interface Changes {
  dropped?: string[];
  host?: Mark[];
  lives?: Course[];
  now: number;
}

/** ClockStatus is the time of a host. Elapsed times count from the making of the clock, in milliseconds. */
export interface ClockStatus {
  /** the next five, where the clock was asked for; the first is the one of NextDeadline */
  due?: Due[];
  /** of a virtual clock: real, debug, auto or manual */
  mode?: string;
  now: string;
  realElapsedMs?: number;
  virtual: boolean;
  virtualElapsedMs?: number;
  wall: string;
}

/** ContainerInfo is a blob container of the embedded storage account. */
export interface ContainerInfo {
  /** snapshots and uncommitted blobs do not count */
  blobs: number;
  /** of these blobs */
  bytes: number;
  name: string;
}

/** Controlled says which command an instance was given. */
export interface Controlled {
  command: string;
  id: string;
}

/** CosmosContainer is a container of the embedded Cosmos DB account. */
export interface CosmosContainer {
  documents: number;
  /** of functions that watch the container */
  leases?: Leases[];
  partitionKey: string;
  /** "shop/orders" */
  path: string;
  ranges: RangeStatus[];
}

/** CosmosContainers are the containers of the embedded Cosmos DB account. */
export interface CosmosContainers {
  cosmos: CosmosContainer[];
}

/** CosmosDocuments are documents of a container, sorted by identifier: of a lease container, the checkpoints of functions. */
export interface CosmosDocuments {
  /** that were asked for */
  count: number;
  documents: unknown[];
  path: string;
}

/** CosmosWritten says what was created or replaced. */
export interface CosmosWritten {
  /** the container, which was missing */
  created?: boolean;
  etags: string[];
  ids: string[];
  path: string;
}

export interface Counted {
  attempts: number;
  deliveries: number;
  failures: number;
}

export interface Course {
  attempts: number;
  copy?: string;
  deliveries?: Delivery[];
  due?: number;
  end: number;
  error: string;
  failures: number;
  function: string;
  gone: boolean;
  grave?: string;
  key: string;
  latest: number;
  logs?: Line[];
  marks?: Mark[];
  message: string;
  number: number;
  of: number;
  origin?: string;
  outcome: string;
  own: Counted;
  place: string;
  records: number;
  seq: number;
  service: string;
  source: string;
  start: number;
  state: string;
  trigger: string;
}

export interface Delivery {
  answer?: string;
  attempts?: Try[];
  batch: number;
  cause?: string;
  count: number;
  decision?: string;
  end?: number;
  id: string;
  inputs?: string[][];
  invocation?: string;
  limit?: number;
  member: number;
  remark?: string;
  seq: number;
  start: number;
  target?: string;
}

export interface DeliveryInfo {
  attempts: Attempt[];
  eventId: string;
  eventType: string;
  expires: string;
  next?: string;
  outcome?: string;
  published: string;
  reason?: string;
  subject: string;
  subscription: string;
  topic: string;
}

/** Due is a time that work waits for, or a listener; when there is none, any deadline. */
export interface Due {
  at: string;
  /** who waits; a timeout has none */
  name?: string;
  /** sleep: work waits for it; idle: a poll or tick; timer; lapse: the end of a lock or message; timeout */
  wait: string;
}

/** DueItem is something that will happen at a time. */
export interface DueItem {
  at: string;
  delivery?: string;
  entity?: string;
  function?: string;
  /** retry, redelivery, delayed, lock, scheduled, event, timer, breaker */
  kind: string;
  messageId?: string;
  /** of the message, as in GET /messages */
  service?: string;
  text: string;
}

/** Dues are what is due next. */
export interface Dues {
  items: DueItem[];
  /** so many come later */
  more?: number;
  now: string;
}

/** DurableEntity is an entity of Durable Functions. */
export interface DurableEntity {
  /** @name@key */
  id: string;
  lockedBy?: string;
  /** by its last batch of operations */
  modified: string;
  /** operations that wait */
  queue?: number;
  /** JSON */
  state?: string;
}

/** DurableEntityList are entities of Durable Functions. */
export interface DurableEntityList {
  entities: DurableEntity[];
  /** so many are not listed */
  more?: number;
}

/** Endpoint is where clients find a service of the host. */
export interface Endpoint {
  address?: string;
  /** without a key of the user's own */
  connectionString?: string;
  service: string;
}

/** Entities are entities of a table. */
export interface Entities {
  /** that were asked for */
  count: number;
  entities: unknown[];
  table: string;
}

/** EntitiesWritten says what was written. */
export interface EntitiesWritten {
  /** the table, which was missing */
  created?: boolean;
  table: string;
  written: number;
}

/** EntityDeleted says what was deleted. A topic goes with its subscriptions. */
export interface EntityDeleted {
  kind: string;
  /** that went with it, dead letters and messages of subscriptions included */
  messages: number;
  path: string;
  /** of a topic */
  subscriptions?: number;
}

export interface Entry {
  attempt?: number;
  decided?: string;
  delivery?: string;
  deliveryCount?: number;
  formula?: string;
  layer: string;
  seq: number;
  text: string;
  then?: string;
  time: string;
}

/** Error is the refusal of an operation, and the body of the answer that reports it. */
export interface Error {
  /** for programs: not_found, conflict */
  code?: string;
  error: string;
  hint?: string;
}

/** EventRaised says which event an instance was given. */
export interface EventRaised {
  event: string;
  id: string;
}

/** Fault lets operations fail. Its members are those of AddFault. */
export interface Fault {
  after?: boolean;
  diskFull?: boolean;
  entity?: string;
  error?: string;
  latency?: string;
  /** how many operations it is still for; 0 while only its time ends it */
  left?: number;
  lost?: boolean;
  operation?: string;
  service?: string;
  status?: number;
  /** when it ends */
  until?: string;
}

/** Faults are those that wait for operations, in the order in which they were added. */
export interface Faults {
  faults: Fault[];
}

export interface Filter {
  key: string;
  operatorType: string;
  value?: unknown;
  values?: unknown[];
}

/** Finding is an error, a warning or a lint of check. */
export interface Finding {
  file?: string;
  fix?: string;
  function?: string;
  line?: number;
  message: string;
  path?: string;
  /** of a lint: L-1 */
  rule?: string;
  /** error, warning or lint */
  severity: string;
}

/** FunctionInfo is one function of the running generation. */
export interface FunctionInfo {
  detail?: string;
  name: string;
  /** queue, route, schedule, path */
  source?: string;
  /** enabled, disabled, not served, error */
  state: string;
  trigger?: string;
}

export interface FunctionReport {
  attemptsPerDelivery: number;
  attemptsUnbounded?: boolean;
  deliveries: number;
  deliveriesUnbounded?: boolean;
  disabled?: string;
  end?: string;
  file?: string;
  ignoredRetry?: PolicyReport;
  inError: boolean;
  name: string;
  notServed?: string;
  retry: PolicyReport | null;
  source?: string;
  totalAttempts: number;
  totalUnbounded?: boolean;
  trigger?: string;
  unloaded?: string;
  waitPerDelivery: WaitReport;
  waitTotal: WaitReport;
}

/** FunctionState is how a function stands. */
export interface FunctionState {
  /** of a function that has one */
  breaker?: BreakerState;
  detail?: string;
  language: string;
  name: string;
  /** enabled, disabled, not served, error */
  state: string;
  trigger?: string;
}

/** Generation is an app that was loaded, or an edit that was refused. */
export interface Generation {
  at: string;
  /** "added NAME", "removed NAME" of functions; none: something within has changed */
  changes: string[];
  current?: boolean;
  /** of one that was refused for several: which of them this is, from 1 */
  fault?: number;
  /** and how many there are */
  faults?: number;
  file?: string;
  hint?: string;
  /** of one that was loaded */
  number?: number;
  reason?: string;
  refused?: boolean;
  /** of one that was refused: the files are as before again */
  undone?: boolean;
}

/** GridDeleted says what was deleted of Event Grid: a topic with its event subscriptions, or one of them. */
export interface GridDeleted {
  /** events that were not delivered yet */
  pending: number;
  subscription?: string;
  /** of a topic */
  subscriptions?: number;
  topic: string;
}

/** GridTopic is a topic of the embedded Event Grid. */
export interface GridTopic {
  inputSchema: string;
  /** with which publishers are let in */
  key: string;
  name: string;
  resource: string;
  subscriptions: SubscriptionInfo[];
}

/** GroupCreated is a consumer group that was made. */
export interface GroupCreated {
  consumerGroup: string;
  hub: string;
}

/** HistoryEvent is an event of a history as workers are sent it; members that it does not have are left out. */
export interface HistoryEvent {
  Details?: string;
  EventId: number;
  EventType: string;
  FireAt?: string;
  Input?: string;
  InstanceId?: string;
  Name?: string;
  OrchestrationStatus?: string;
  Reason?: string;
  Result?: string;
  /** of timers TimerId */
  TaskScheduledId?: number;
  Timestamp: string;
  /** of the app that wrote it */
  generation?: number;
}

/** HubCheckpoint is how far a consumer group has read a partition. */
export interface HubCheckpoint {
  /** events that are kept and come after it */
  behind: number;
  consumerGroup: string;
  /** why it cannot be read */
  error?: string;
  /** of the last event before it; null: there is none */
  sequenceNumber: number | null;
}

/** HubCreated is a hub that was made. */
export interface HubCreated {
  /** $Default is the first */
  consumerGroups: string[];
  name: string;
  partitions: number;
  retention: string;
}

/** HubInfo is a hub of the embedded Event Hubs namespace. */
export interface HubInfo {
  name: string;
  partitions: HubPartition[];
}

/** HubPartition is a partition of a hub. LastSequence is -1 before the first event. */
export interface HubPartition {
  /** one for each consumer group */
  checkpoints: HubCheckpoint[];
  /** that are kept */
  events: number;
  id: string;
  lastSequence: number;
}

/** HubSent says where an event went. */
export interface HubSent {
  hub: string;
  partitionId?: string;
  partitionKey?: string;
}

/** Identity is a host's answer to a challenge. */
export interface Identity {
  proof: string;
}

/** Inventory is what a host has: the functions of the running generation and what its embedded services hold. Each service has a list of its own, sorted by name, that is never null. */
export interface Inventory {
  containers: ContainerInfo[];
  cosmos: CosmosContainer[];
  /** Deliveries are events that subscriptions of Event Grid still have, in order of publication, at most 256. */
  deliveries: DeliveryInfo[];
  /** why no app runs */
  errors?: string[];
  eventgrid: GridTopic[];
  eventhubs: HubInfo[];
  functions: FunctionInfo[];
  /** More are the lists of services that have none here, by the first word of their paths. */
  more?: Record<string, unknown>;
  /** Outputs are those that are not served, with what was recorded, and those that are made to fail. */
  outputs: OutputInfo[];
  queues: QueueInfo[];
  servicebus: BusEntity[];
  state: string;
}

/** InvokeResponse is the answer of an HTTP-triggered function. */
export interface InvokeResponse {
  /** base64 */
  body?: string;
  headers?: Record<string, string[]>;
  statusCode: number;
}

/** InvokeResult is what came of a call by hand, all attempts made. */
export interface InvokeResult {
  attempts: number;
  /** the last attempt's */
  error?: string;
  response?: InvokeResponse;
  succeeded: boolean;
}

/** Lease is the lease of one range. */
export interface Lease {
  changed?: string;
  continuation?: string;
  /** why the lease cannot be used */
  error?: string;
  /** that the owner is, if it is one of this host */
  function?: string;
  /** as the lease has it */
  owner?: string;
  /** changes after the continuation; null: not known */
  pending: number | null;
  range: string;
}

/** Leases is how far functions have come that share the leases of one prefix for one container of the embedded Cosmos DB account, as the control API shows it. */
export interface Leases {
  /** of the leases: "shop/leases" */
  container: string;
  /** why there are none */
  error?: string;
  functions: string[];
  prefix?: string;
  ranges: Lease[];
}

export interface Life {
  attempts: number;
  deliveries: number;
  entries: Entry[];
  expected?: string;
  function?: string;
  message?: string;
  next: string;
  nextAt?: string;
  number?: number;
  over: boolean;
  policy?: string;
  service?: string;
  source?: string;
  trigger?: string;
}

export interface Line {
  attempt: number;
  delivery: string;
  level: string;
  seq: number;
  text: string;
  time: number;
}

export interface Lint {
  column?: number;
  file: string;
  function?: string;
  id: string;
  line?: number;
  message: string;
  path?: string;
}

/** LocksExpired says how many messages had a lock that was ended. */
export interface LocksExpired {
  expired: number;
  path: string;
  session?: string;
}

export interface Mark {
  delay?: number;
  kind: string;
  seq: number;
  text: string;
  time: number;
}

/** Message is a queue message as the control API shows it. */
export interface Message {
  binary?: string;
  body?: string;
  dequeueCount: number;
  expires?: string;
  id: string;
  inserted: string;
  /** LastError is the failure that brought a message into its poison queue, where the host has seen it: host.Host.PoisonError. */
  lastError?: string;
  /** only of a message that is not visible */
  nextVisible?: string;
  /** Text is what the service holds; Body is the decoded body when it is text, Binary (base64) when it is not. Undecodable says why neither is there. */
  text: string;
  undecodable?: string;
}

/** MessageMoved says what was done to a message. */
export interface MessageMoved {
  entity: string;
  id: string;
  /** that it has there */
  newId?: string;
  service: string;
  /** where it is now, if that is elsewhere */
  target?: string;
}

/** Messages are messages of an entity. */
export interface Messages {
  messages: ShownMessage[];
  /** there are more than were asked for */
  more?: boolean;
}

/** Orchestration is how an instance of an orchestrator stands. */
export interface Orchestration {
  /** since its start, by the host's clock */
  age: string;
  created: string;
  /** JSON */
  customStatus?: string;
  /** of its history */
  events?: number;
  /** names of what it has met, see ShowOrchestration */
  findings?: string[];
  id: string;
  /** of the orchestrator */
  name: string;
  /** the instance that has made it */
  parent?: string;
  status: string;
  turns?: number;
  /** with its last turn */
  updated: string;
  waits?: string[];
}

/** OrchestrationFinding is a fault of the platform or of the app that an instance has met. */
export interface OrchestrationFinding {
  message: string;
  name: string;
}

/** OrchestrationList are instances of orchestrators. */
export interface OrchestrationList {
  /** so many are not listed */
  more?: number;
  orchestrations: Orchestration[];
  /** how many have each status */
  statuses?: Record<string, number>;
}

/** OrchestrationShown is an instance of an orchestrator. */
export interface OrchestrationShown {
  /** since its start, by the host's clock */
  age: string;
  created: string;
  /** JSON */
  customStatus?: string;
  /** of its history */
  events?: number;
  /** the id of its execution: continue-as-new makes another one */
  execution?: string;
  /** names of what it has met, see ShowOrchestration */
  findings?: string[];
  /** what it has met, with a sentence */
  found?: OrchestrationFinding[];
  /** of the last execution */
  history: HistoryEvent[];
  id: string;
  /** JSON */
  input?: string;
  /** of the orchestrator */
  name: string;
  /** JSON; of a failure its text */
  output?: string;
  /** the instance that has made it */
  parent?: string;
  status: string;
  /** what it has scheduled, in the order of their numbers */
  steps?: ScheduledStep[];
  turns?: number;
  /** with its last turn */
  updated: string;
  waits?: string[];
}

/** OrchestrationStarted has the id of a new instance. */
export interface OrchestrationStarted {
  id: string;
}

/** OrchestrationsPurged says how many instances are gone. */
export interface OrchestrationsPurged {
  removed: number;
}

export interface OutputInfo {
  binding: string;
  failing?: number;
  function: string;
  recorded: number;
  type: string;
}

/** Outputs are outputs of functions. */
export interface Outputs {
  outputs: OutputInfo[];
}

/** Peeked is the visible part of a queue. Count also counts what is invisible: in work, waiting for its redelivery, or delayed. */
export interface Peeked {
  count: number;
  messages: Message[];
  queue: string;
}

/** PeekedOutputs is what was recorded of outputs that are not served: the latest values, oldest first. Count is how many are kept. */
export interface PeekedOutputs {
  count: number;
  /** "function" or "function/binding" */
  name: string;
  outputs: RecordedOutput[];
}

export interface PolicyReport {
  configuredMaxRetryCount?: number;
  delayInterval?: string;
  file: string;
  line?: number;
  maxRetryCount: number;
  maximumInterval?: string;
  minimumInterval?: string;
  path?: string;
  source: string;
  strategy: string;
}

export interface Problem {
  allowed?: string;
  column?: number;
  file: string;
  first?: boolean;
  found?: string;
  function?: string;
  hint?: string;
  id?: string;
  kind?: string;
  line?: number;
  path?: string;
  reason: string;
}

/** Published says which events a topic has taken. */
export interface Published {
  ids: string[];
  topic: string;
}

/** Purged says how many messages or documents were removed. */
export interface Purged {
  path: string;
  removed: number;
}

/** QueueInfo is a queue of the embedded storage account. */
export interface QueueInfo {
  /** all messages */
  count: number;
  /** in work, waiting for redelivery, or delayed */
  invisible: number;
  name: string;
  /** a function could take them now */
  visible: number;
}

/** QueuePurged says how many messages a queue held when it was emptied. */
export interface QueuePurged {
  queue: string;
  removed: number;
}

/** Queues are the queues of an account, sorted by name. */
export interface Queues {
  queues: QueueInfo[];
}

/** RanAgain says what was done to run a delivery again. */
export interface RanAgain {
  delivery: string;
  entity?: string;
  function: string;
  /** of the new message */
  newId?: string;
  service?: string;
}

/** RangeStatus is a range and how many documents it holds. */
export interface RangeStatus {
  documents: number;
  id: string;
}

export interface RecordedOutput {
  attempt: number;
  binary?: string;
  binding: string;
  body?: string;
  delivery: string;
  function: string;
  invocation: string;
  messageId?: string;
  size: number;
  time: string;
  type: string;
}

/** Redriven says what a redrive has moved. */
export interface Redriven {
  from: string;
  /** of the one message of a queue that was asked for */
  id?: string;
  /** still in From: invisible, locked, not asked for, or arrived meanwhile */
  left: number;
  moved: number;
  /** that it has now */
  newId?: string;
  to: string;
}

/** Reloaded is the result of a reload that was not refused. */
export interface Reloaded {
  generation: number;
  state: string;
}

export interface Report {
  app: string;
  blocked: boolean;
  errors: Problem[];
  functions: FunctionReport[];
  hostId: string;
  ignored?: string[];
  lints: Lint[];
  logLevels?: Record<string, string>;
  warnings: Problem[];
  withoutEffect?: string[];
}

/** ScheduledStep is something that an orchestrator has scheduled. */
export interface ScheduledStep {
  /** of timers */
  due?: string;
  /** none: it is open */
  ended?: string;
  error?: string;
  failed?: boolean;
  generation?: number;
  /** of the function; the child's id */
  name?: string;
  number: number;
  /** JSON */
  result?: string;
  scheduled: string;
  /** activity, child, timer, call */
  what: string;
}

/** Setting is a setting of local.settings.json. Its value is masked, unless it is one that is no secret by its kind: a number (unless its name speaks of a key, a password or the like), true or false, the runtime, the embedded storage. */
export interface Setting {
  masked?: boolean;
  name: string;
  source: string;
  value: string;
}

/** ShownMessage is a message, event, document or blob as the page shows it. Its state is of a queue: visible, hidden (in work, or waits for its redelivery) or scheduled; of Service Bus: active, locked, scheduled or deferred; of Event Grid: waiting, sending or dead (its dead letter is to be written); of all else visible. */
export interface ShownMessage {
  /** the body is no text */
  binary?: boolean;
  /** deliveries so far; of Service Bus those that failed */
  deliveryCount?: number;
  enqueued?: string;
  expires?: string;
  /** in its entity; of Service Bus the sequence number, of a hub PARTITION/SEQUENCE, of Event Grid TOPIC/SUBSCRIPTION/EVENT */
  id: string;
  messageId?: string;
  /** where a poison message or dead letter came from */
  origin?: string;
  /** the beginning of a body that is text, at most 256 characters */
  preview?: string;
  properties?: Record<string, string>;
  /** why it is there, or failed last */
  reason?: string;
  /** of Service Bus, ID as a number */
  sequence?: number;
  size: number;
  state: string;
  /** end of its lock or wait, or its next attempt */
  visibleAt?: string;
}

/** Signalled says which operation an entity was sent. */
export interface Signalled {
  entity: string;
  operation: string;
}

export interface Standing {
  errors?: string[];
  folder: string;
  generation: number;
  logLevels?: Record<string, string>;
  name: string;
  state: string;
}

/** StateLoaded is the result of loading a state. */
export interface StateLoaded {
  /** MovedMS is by how much the clock was moved to the time of the state, in milliseconds. */
  movedMs?: number;
}

/** Status is the state of a host and what it runs. */
export interface Status {
  /** absolute path of the app folder */
  app: string;
  /** of a run that has several; the other fields are of the one that was asked */
  apps?: Standing[];
  clock: ClockStatus;
  errors?: string[];
  generation: number;
  /** sequence number of the latest record */
  journal: number;
  pid: number;
  ready: boolean;
  /** of the running generation; of several apps all functions, as "app/function" */
  report?: Report;
  state: string;
  version: string;
}

/** Subscribed is an event subscription that was made. */
export interface Subscribed {
  state: string;
  subscription: string;
  topic: string;
}

export interface SubscriptionInfo {
  advancedFilters?: Filter[];
  deadLetterContainer?: string;
  deadLetters: number;
  deliveryHeaders?: Record<string, string>;
  endpoint?: string;
  eventDeliverySchema?: string;
  eventTimeToLiveInMinutes?: number;
  failures?: number;
  function?: string;
  includedEventTypes?: string[];
  isSubjectCaseSensitive?: boolean;
  maxDeliveryAttempts?: number;
  maxEventsPerBatch?: number;
  name: string;
  next?: string;
  pending: number;
  preferredBatchSizeInKilobytes?: number;
  sparedUntil?: string;
  state: string;
  subjectBeginsWith?: string;
  subjectEndsWith?: string;
}

/** TableInfo is a table and how many entities it has. */
export interface TableInfo {
  entities: number;
  name: string;
}

/** Tables are the tables of the embedded storage account. */
export interface Tables {
  tables: TableInfo[];
}

export interface Tale {
  function: string;
  hub: string;
  id: string;
  lines: TaleLine[];
  next?: string;
  over: boolean;
}

export interface TaleLine {
  detail?: string;
  finding?: boolean;
  seq: number;
  time: string;
  until?: string;
  what: string;
  who: string;
}

export interface Told {
  lives: Life[];
  more?: number;
  now: string;
  orchestrations?: Tale[];
}

export interface Try {
  delay?: number;
  elapsed?: number;
  end?: number;
  error?: string;
  number: number;
  seq: number;
  stack?: string;
  start: number;
  status?: string;
}

export interface WaitReport {
  maximum?: string;
  minimum?: string;
  unbounded?: boolean;
}
