package app

// A LintRule is a lint as the manual tells it.
type LintRule struct {
	ID   string // L- and a number; that of a lint that is gone is never given to another
	Text string // Markdown: when it comes, and why it matters
}

// LintRules are all lints, in the order of their numbers; docs/lints.md is written from them.
func LintRules() []LintRule { return lintRules[:] }

var lintRules = [...]LintRule{
	{"L-1", "A policy on a trigger without official support. It holds today, with a warning, on the platform and here."},
	{"L-2", "`extensions.queues.visibilityTimeout` is set together with a policy. It delays the next delivery, not the retries."},
	{"L-3", "`maxRetryCount` -1: a message that always fails blocks its partition, its message or its timer for ever."},
	{"L-4", "A time span that is read otherwise than it looks: `5` is five days, `10:00` ten hours, `30:00:00` thirty days. Write `hh:mm:ss`, with days as `d.hh:mm:ss`."},
	{"L-5", "Waits above a minute, or more than 5 retries: beyond the platform's advice for the Consumption plan."},
	{"L-6", "A Service Bus `maxDeliveryCount` of 1 with a policy: one delivery, then the dead-letter queue. A host that dies in between leaves the rest of the policy undone."},
	{"L-7", "The longest loop is longer than the lock is renewed and lasts. The message is delivered a second time while the first delivery still runs."},
	{"L-8", "The longest loop is above 30 s on Event Grid, which then delivers the event again, or above 230 s on HTTP, where the platform's front end gives up the request."},
	{"L-9", "A key that differs from a known one by case or spelling."},
	{"L-10", "Layered retries: attempts × deliveries above 100, or more than 24 hours in all. The text names both layers."},
	{"L-11", "More than 5 retries with less than a second between them load a service that is already in trouble."},
	{"L-12", "A poison queue that cannot exist (the name is too long), or a function on a poison queue."},
	{"L-13", "A timer whose longest loop exceeds its period."},
	{"L-14", "A setting of the environment that leaves an incomplete policy."},
	{"L-15", "A function with outputs and a policy: when the second output fails, the first is written again. Handlers should be idempotent."},
	{"L-16", "A function whose output feeds its own trigger: it runs without end."},
	{"L-17", "A route behind a wider one that answers in its place."},
	{"L-22", "A retry policy on a function of Durable Functions. Of an activity it repeats the call inside one delivery, and the orchestration hears of the last failure only; with retry options in the orchestrator both multiply. On an orchestrator or entity it is ignored, as on the platform."},
} // read only
