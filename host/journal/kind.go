package journal

// Kind names a fact. The set is closed and the spelling is the same in the
// journal, in log fields and in assertions (spec host-and-retry 0.3, 14.2).
type Kind string

// The services that make facts by themselves: Record.Service.
const (
	Queues     = "queue"
	ServiceBus = "servicebus"
	EventHubs  = "eventhubs"
	EventGrid  = "eventgrid"
	Durable    = "durable"
)

// Life of the host and of its handler processes.
const (
	HostStarted       Kind = "host_started"       // the first generation runs
	HostStopped       Kind = "host_stopped"       // everything has ended
	GenerationLoaded  Kind = "generation_loaded"  // an app was loaded and took over
	GenerationRefused Kind = "generation_refused" // an edit, or the first load, was refused; error says why
	EditUndone        Kind = "edit_undone"        // after a refusal the files are again as the running generation has them
	FunctionError     Kind = "function_error"     // a function is in error, or its listener failed and will start again
	ProcessStarted    Kind = "process_started"
	ProcessExited     Kind = "process_exited"

	// An account outside this host, by the setting that names it: Name.
	ServiceUnreachable Kind = "service_unreachable" // a call did not reach it; error says why
	ServiceBack        Kind = "service_back"        // a call reached it again; delay is how long it was away
	ListenerLockLost   Kind = "listener_lock_lost"  // another host may run the function's listener now
)

// The life of one delivery.
const (
	Received         Kind = "received"          // a listener has taken a delivery
	AttemptStarted   Kind = "attempt_started"   // does not mean that the handler ran: reading inputs may fail first
	AttemptEnded     Kind = "attempt_ended"     // one for each attempt_started
	RetryScheduled   Kind = "retry_scheduled"   // log event 325: before each wait
	RetriesExhausted Kind = "retries_exhausted" // log event 324: gave up; only with a policy
	RetryCancelled   Kind = "retry_cancelled"   // log event 340: the wait was cut short
	OutputRecorded   Kind = "output_recorded"   // an output that is not served was set; fields hold the value
	TableWritten     Kind = "table_written"     // a transaction of a table output was committed or refused; target is the table
	Settled          Kind = "settled"           // one for each received
)

// Facts that a service makes by itself.
const (
	Enqueued          Kind = "enqueued"
	Expired           Kind = "expired"
	Purged            Kind = "purged"       // every message of source was removed by hand
	StateLoaded       Kind = "state_loaded" // another state, or none, has taken the place of that of all services
	LockRenewed       Kind = "lock_renewed"
	LockExpired       Kind = "lock_expired"
	DeadLettered      Kind = "dead_lettered"
	Forwarded         Kind = "forwarded"
	CheckpointWritten Kind = "checkpoint_written"
	TransactionEnded  Kind = "transaction_ended"
	EventAttempted    Kind = "event_attempted" // Event Grid has made a request; status is its outcome, delay the wait that follows
	EventDelayed      Kind = "event_delayed"   // Event Grid spares the endpoint of an event for a while; status is Probation, delay the wait
	EventDropped      Kind = "event_dropped"   // Event Grid gave an event up, and no dead letter was written; cause says why
)

// Instances of orchestrators and entities (spec durable 12.1). Source is the task hub,
// message_id the instance.
const (
	InstanceStarted    Kind = "instance_started"    // a start was committed; cause says by what
	OrchestrationTurn  Kind = "orchestration_turn"  // a turn was committed, or aborted: status
	TaskScheduled      Kind = "task_scheduled"      // with its turn; name is the activity, child or entity, or "timer"
	TaskEnded          Kind = "task_ended"          // an end was taken by a turn; delay is how long it took
	EventRaised        Kind = "event_raised"        // an event reached an inbox
	InstanceControlled Kind = "instance_controlled" // somebody has changed what an instance does; status is the command
	InstanceEnded      Kind = "instance_ended"
	EntityBatch        Kind = "entity_batch"    // a batch of operations was committed, or aborted: status
	DurableFinding     Kind = "durable_finding" // a fault of the platform or of the app that an instance has met: name
)

// Handlers, test control and the circuit breaker.
const (
	HandlerLog        Kind = "handler_log"
	FaultInjected     Kind = "fault_injected"
	ClockMoved        Kind = "clock_moved"
	CircuitOpened     Kind = "circuit_opened"
	CircuitHalfOpened Kind = "circuit_half_opened"
	CircuitClosed     Kind = "circuit_closed"
)

// Kinds lists every kind, in the order of this file.
func Kinds() []Kind {
	return []Kind{
		HostStarted, HostStopped, GenerationLoaded, GenerationRefused, EditUndone, FunctionError, ProcessStarted, ProcessExited,
		ServiceUnreachable, ServiceBack, ListenerLockLost,
		Received, AttemptStarted, AttemptEnded, RetryScheduled, RetriesExhausted, RetryCancelled, OutputRecorded, TableWritten, Settled,
		Enqueued, Expired, Purged, StateLoaded, LockRenewed, LockExpired, DeadLettered, Forwarded, CheckpointWritten, TransactionEnded, EventAttempted, EventDelayed, EventDropped,
		InstanceStarted, OrchestrationTurn, TaskScheduled, TaskEnded, EventRaised, InstanceControlled, InstanceEnded, EntityBatch, DurableFinding,
		HandlerLog, FaultInjected, ClockMoved, CircuitOpened, CircuitHalfOpened, CircuitClosed,
	}
}
