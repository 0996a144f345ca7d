package app

import (
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// Config is host.json after overrides, with defaults filled in
// (spec host-and-retry 6.2). Field names are those of the file.
type Config struct {
	// FunctionTimeout limits each attempt; 0 is unlimited.
	FunctionTimeout time.Duration

	// Retry is the app policy, nil for none. RetryFrom is "host.json", or
	// "environment" when an override gives at least one of its values.
	Retry     *retrycontext.Policy
	RetryFrom string

	HTTP        HTTP
	Queues      Queues
	Blobs       Blobs
	ServiceBus  ServiceBus
	EventHubs   EventHubs
	Aggregator  Aggregator
	Concurrency Concurrency
	Singleton   Singleton
	Health      HealthMonitor
	Logging     Logging

	// ExtensionBundle is nil unless the file names one.
	ExtensionBundle *ExtensionBundle

	// CustomHandler is nil unless the file has customHandler or the older
	// httpWorker.
	CustomHandler *CustomHandler

	// EventGrid is redeliver.eventGrid: topics and event subscriptions.
	EventGrid EventGrid

	// Functions is the allow list; empty means all.
	Functions []string

	// WatchDirectories and WatchFiles hold the configured names and those that
	// are always watched.
	WatchDirectories, WatchFiles []string

	ManagedDependency               bool
	SendCanceledInvocationsToWorker bool
	MetadataProviderTimeout         time.Duration
	TelemetryMode                   string // "ApplicationInsights" or "OpenTelemetry"

	// Raw is the whole merged configuration as decoded JSON: objects as
	// map[string]any, numbers as json.Number, values of overrides as text, keys
	// as written. Sections that have no field above are read from here.
	Raw map[string]any
}

// HTTP is extensions.http. The limits are -1 for unbounded.
type HTTP struct {
	RoutePrefix             string
	MaxOutstandingRequests  int
	MaxConcurrentRequests   int
	DynamicThrottlesEnabled bool
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

// Aggregator is the aggregator section.
type Aggregator struct {
	BatchSize    int
	FlushTimeout time.Duration
}

// Concurrency is the concurrency section. MaximumFunctionConcurrency is -1 for
// unbounded.
type Concurrency struct {
	DynamicConcurrencyEnabled  bool
	SnapshotPersistenceEnabled bool
	MaximumFunctionConcurrency int
	CPUThreshold               float64
}

// Singleton is the singleton section. LockAcquisitionTimeout 0 is unbounded.
type Singleton struct {
	LockPeriod                          time.Duration
	ListenerLockPeriod                  time.Duration
	ListenerLockRecoveryPollingInterval time.Duration
	LockAcquisitionTimeout              time.Duration
	LockAcquisitionPollingInterval      time.Duration
}

// HealthMonitor is the healthMonitor section. It acts on App Service only.
type HealthMonitor struct {
	Enabled              bool
	HealthCheckInterval  time.Duration
	HealthCheckWindow    time.Duration
	HealthCheckThreshold int
	CounterThreshold     float64
}

// Logging is the logging section. LogLevel maps category prefixes, as written,
// to Trace, Debug, Information, Warning, Error, Critical or None.
type Logging struct {
	LogLevel        map[string]string
	FileLoggingMode string // never, always or debugOnly
	ConsoleEnabled  bool
}

// ExtensionBundle names the platform's package of extensions. It is checked and
// otherwise says only which names the properties of bindings have: every extension is
// built in here.
type ExtensionBundle struct{ ID, Version string }

// CustomHandler is the customHandler section, or httpWorker in its older form.
type CustomHandler struct {
	DefaultExecutablePath       string
	WorkingDirectory            string // "" is the app's folder
	Arguments                   []string
	DefaultWorkerPath           string
	WorkerArguments             []string
	EnableForwardingHTTPRequest bool

	// Section is the name under which it stands: customHandler or httpWorker.
	Section string

	// OverHTTP is set when something in the section is of use only to a program that
	// serves HTTP.
	OverHTTP bool
}
