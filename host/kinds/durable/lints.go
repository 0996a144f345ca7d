package durable

import "github.com/redeliver/redeliver/host/app"

// lintOrchestrator is L-22 of orchestrators and entities.
func lintOrchestrator(r *app.Review) {
	r.Policy("L-22", "a retry policy of an orchestrator or entity is ignored, here as on the platform: one call for each turn, and the first failure ends the instance; retry the activities instead, with callActivityWithRetry")
}

// lintActivity is L-22 of activities.
func lintActivity(r *app.Review) {
	r.Policy("L-22", "the policy repeats an activity within one delivery, and the orchestration hears of the last failure only; with retry options in the orchestrator both multiply: leave retries to one of them")
}
