package hostjson

import (
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// Config is host.json after overrides, with defaults filled in (spec
// host-and-retry 6.2), as far as anything here depends on it: the schema
// checks the rest. Field names are the names in the file.
type Config struct {
	// ManagedDependencies is managedDependency.enabled: the worker for PowerShell installs
	// the modules of the app.
	ManagedDependencies bool

	// FunctionTimeout limits each attempt; 0 is unlimited.
	FunctionTimeout time.Duration

	// Retry is the app policy, nil for none. RetryFrom is "host.json", or
	// "environment" when an override gives at least one of its values.
	Retry     *retrycontext.Policy
	RetryFrom string

	HTTP       HTTP
	Queues     Queues
	Blobs      Blobs
	ServiceBus ServiceBus
	EventHubs  EventHubs
	Singleton  Singleton
	Durable    DurableTask

	// ExtensionBundle is nil unless the file names one.
	ExtensionBundle *ExtensionBundle

	// CustomHandler is nil unless the file has customHandler or the older
	// httpWorker.
	CustomHandler *CustomHandler

	// OpenTelemetry is telemetryMode; ApplicationInsights says that the file has
	// logging.applicationInsights.
	OpenTelemetry, ApplicationInsights bool

	// LogLevels is logging.logLevel: what a person sees of what is logged.
	LogLevels LogLevels

	// EventGrid is redeliver.eventGrid: topics and event subscriptions.
	EventGrid EventGrid

	// Functions is the allow list; empty means all.
	Functions []string

	// WatchDirectories and WatchFiles hold the configured names and the names
	// that are always watched.
	WatchDirectories, WatchFiles []string
}

// HTTP is extensions.http. The limits are -1 for unbounded.
type HTTP struct {
	RoutePrefix            string
	MaxOutstandingRequests int
	MaxConcurrentRequests  int
	CustomHeaders          map[string]string // of every answer that lacks them
}

// Queues is extensions.queues (spec storage 1).
type Queues struct {
	BatchSize          int
	NewBatchThreshold  int // computed from the number of processors unless set
	MaxDequeueCount    int
	MaxPollingInterval time.Duration
	// MaxPollingExplicit tells a configured maxPollingInterval from the default,
	// which development shortens to 2 s (storage.md S-9).
	MaxPollingExplicit bool
	VisibilityTimeout  time.Duration
	MessageEncoding    string // "base64" or "none"
}

// Blobs is extensions.blobs (spec storage 7).
type Blobs struct {
	MaxDegreeOfParallelism int
	PoisonBlobThreshold    int
}

// Singleton is the singleton section: the locks of listeners.
type Singleton struct {
	ListenerLockPeriod                  time.Duration
	ListenerLockRecoveryPollingInterval time.Duration
}

// ExtensionBundle names the platform's package of extensions. It is checked and
// otherwise says only which names the properties of bindings have: every extension is
// built in here.
type ExtensionBundle struct {
	ID, Version string

	// Before3 says that all versions of the range are below 3 of the platform's own bundle.
	Before3 bool
}

// CustomHandler is the customHandler section, or httpWorker in its older form.
type CustomHandler struct {
	DefaultExecutablePath string
	WorkingDirectory      string // "" is the app's folder
	Arguments             []string
	DefaultWorkerPath     string // given to the program after Arguments; may be empty
	WorkerArguments       []string
	Port                  int // that the program listens on; 0 is a free one

	// Forward says that HTTP requests are handed through instead of being wrapped
	// (enableForwardingHttpRequest), Proxy that they are while they come in
	// (enableProxyingHttpRequest). Proxy wins.
	Forward, Proxy bool

	// Section is the name under which it stands: customHandler or httpWorker.
	Section string

	// OverHTTP is set when something in the section is of use only to a program that
	// serves HTTP.
	OverHTTP bool
}
