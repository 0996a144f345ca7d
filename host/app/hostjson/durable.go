package hostjson

import (
	"time"

	"github.com/redeliver/redeliver/host/app/document"
)

// DurableTask is extensions.durableTask (spec durable 9), or the section of that name at
// the top of the file, where it stood in version 1. What has no effect here is left out.
type DurableTask struct {
	// At is the path of the section.
	At string

	// HubName is hubName as it is written; empty: it follows from a setting.
	HubName string

	// At a time: activities, turns of orchestrators, batches of entities; operations of a
	// batch, actions of a plan.
	MaxConcurrentActivityFunctions     int
	MaxConcurrentOrchestratorFunctions int
	MaxConcurrentEntityFunctions       int
	MaxEntityOperationBatchSize        int
	MaxOrchestrationActions            int

	// AnyState lets a start replace an instance that is not finished
	// (overridableExistingInstanceStates).
	AnyState bool

	// LocalRPCEndpoint is localRpcEndpointEnabled; LocalRPCExplicit says that the file has it.
	LocalRPCEndpoint, LocalRPCExplicit bool

	// AsyncRequestSleep is the wait between polls of callHttp that name none.
	AsyncRequestSleep time.Duration

	// UseForwardedHost makes links of X-Forwarded-Host and X-Forwarded-Proto.
	UseForwardedHost bool

	// Provider is storageProvider.type where it is not the default.
	Provider string

	// ExtendedSessions and Notifications: the file asks for what has no effect here.
	ExtendedSessions, Notifications bool
}

// The defaults of the section. The platform's own numbers of concurrency follow the
// processors, and runs would differ between machines (spec durable DF-7).
const (
	defaultDurableConcurrency = 10
	defaultBatchOperations    = 5000
	defaultPlanActions        = 100000
	defaultRequestSleep       = 30000 // ms
)

func readDurableTask(r document.Reader) DurableTask {
	at := "extensions.durableTask"
	if old := "durableTask"; !r.HasSection(at) && r.HasSection(old) {
		at = old
	}
	return DurableTask{
		At: at, HubName: r.Text(at+".hubName", ""),
		MaxConcurrentActivityFunctions:     r.Number(at+".maxConcurrentActivityFunctions", defaultDurableConcurrency, 1, maxInt),
		MaxConcurrentOrchestratorFunctions: r.Number(at+".maxConcurrentOrchestratorFunctions", defaultDurableConcurrency, 1, maxInt),
		MaxConcurrentEntityFunctions:       r.Number(at+".maxConcurrentEntityFunctions", defaultDurableConcurrency, 1, maxInt),
		MaxEntityOperationBatchSize:        r.Number(at+".maxEntityOperationBatchSize", defaultBatchOperations, 1, maxInt),
		MaxOrchestrationActions:            r.Number(at+".maxOrchestrationActions", defaultPlanActions, 1, maxInt),
		AnyState:                           r.Word(at+".overridableExistingInstanceStates", "NonRunningStates", "AnyState") == "AnyState",
		LocalRPCEndpoint:                   r.Flag(at+".localRpcEndpointEnabled", false),
		LocalRPCExplicit:                   r.Has(at + ".localRpcEndpointEnabled"),
		AsyncRequestSleep:                  time.Duration(r.Number(at+".httpSettings.defaultAsyncRequestSleepTimeMilliseconds", defaultRequestSleep, 1, maxInt)) * time.Millisecond,
		UseForwardedHost:                   r.Flag(at+".httpSettings.useForwardedHost", false),
		Provider:                           r.Text(at+".storageProvider.type", ""),
		ExtendedSessions:                   r.Flag(at+".extendedSessionsEnabled", false),
		Notifications:                      r.HasSection(at + ".notifications.eventGrid"),
	}
}
