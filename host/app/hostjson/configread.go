package hostjson

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

const (
	// HandlerDescription leads from customHandler or httpWorker to what describes its program.
	HandlerDescription = ".description."

	minute      = time.Minute
	unlimited   = -24 * time.Hour // what "-1" parses to: minus one day
	maxInt      = math.MaxInt32
	localLimit  = 30 * minute
	cloudLimit  = 5 * minute // Consumption plan, when nothing is set
	cloudMost   = 10 * minute
	windowsSlot = 200 // HTTP limits of the Windows Consumption plan
	windowsRun  = 100
)

// Around is what decides beside host.json, and hears what is wrong in it.
type Around struct {
	Processors  int
	Consumption bool        // the app says that it runs in the Consumption plan
	NoBundle    func() bool // for such an app the platform reads no extension bundle

	Fault, PolicyFault, Warn func(*schemas.Fault) // PolicyFault: in the app's retry policy
}

type configReader struct {
	Around
	config        *Config
	earlierBundle bool
}

// ReadConfig reads host.json, and says whether it names an extension bundle before 4. Values that the schema refuses keep their
// default; the limits here repeat the schema's only so that what is read is
// always usable.
func ReadConfig(r document.Reader, around Around) (c Config, earlierBundle bool) {
	l := &configReader{Around: around, config: &c}
	dynamic := l.Consumption

	l.readTimeout(r, dynamic)
	c.ManagedDependencies = r.Flag("managedDependency.enabled", false)
	policy, faults := r.ReadPolicy("retry", r.Doc.Canonical(schemas.HostJSON)["retry"], schemas.KindInvalidOperation, true)
	for _, f := range faults {
		l.PolicyFault(f)
	}
	c.Retry = policy
	if policy != nil {
		c.RetryFrom = l.policyOrigin(r)
	}

	c.HTTP = HTTP{
		RoutePrefix:            r.TextOr("extensions.http.routePrefix", "api"),
		MaxOutstandingRequests: r.Number("extensions.http.maxOutstandingRequests", unless(dynamic, windowsSlot), -1, maxInt),
		MaxConcurrentRequests:  r.Number("extensions.http.maxConcurrentRequests", unless(dynamic, windowsRun), -1, maxInt),
		CustomHeaders:          r.Texts("extensions.http.customHeaders"),
	}
	batch := r.Number("extensions.queues.batchSize", queue.DefaultBatchSize, 1, 32)
	processors := l.Processors
	if dynamic {
		processors = 1
	}
	c.Queues = Queues{
		BatchSize:          batch,
		NewBatchThreshold:  r.Number("extensions.queues.newBatchThreshold", queue.DefaultNewBatchThreshold(batch, processors), 0, maxInt),
		MaxDequeueCount:    r.Number("extensions.queues.maxDequeueCount", queue.DefaultMaxDequeueCount, 1, maxInt),
		MaxPollingInterval: r.Span("extensions.queues.maxPollingInterval", minute, 100*time.Millisecond, document.Longest),
		MaxPollingExplicit: r.Text("extensions.queues.maxPollingInterval", "") != "", // empty counts as absent
		VisibilityTimeout:  r.Span("extensions.queues.visibilityTimeout", 0, math.MinInt64, document.Longest),
		MessageEncoding:    r.Word("extensions.queues.messageEncoding", "base64", "none"),
	}
	c.Blobs = Blobs{
		MaxDegreeOfParallelism: r.Number("extensions.blobs.maxDegreeOfParallelism", blob.DefaultParallelism*processors, 1, maxInt),
		PoisonBlobThreshold:    r.Number("extensions.blobs.poisonBlobThreshold", queue.DefaultMaxDequeueCount, 1, maxInt),
	}
	c.ServiceBus = readServiceBus(r, l.Processors)
	c.EventHubs = readEventHubs(r)
	c.EventGrid = readEventGrid(r)
	c.Durable = readDurableTask(r)
	r.Look("aggregator.flushTimeout", "singleton.lockPeriod")
	c.Singleton = Singleton{
		ListenerLockPeriod:                  r.Span("singleton.listenerLockPeriod", minute, 15*time.Second, minute),
		ListenerLockRecoveryPollingInterval: r.Span("singleton.listenerLockRecoveryPollingInterval", minute, 15*time.Second, document.Longest),
	}
	r.Look("singleton.lockAcquisitionTimeout", "singleton.lockAcquisitionPollingInterval",
		"healthMonitor.healthCheckInterval", "healthMonitor.healthCheckWindow", "metadataProviderTimeout")
	c.OpenTelemetry = r.Word("telemetryMode", "ApplicationInsights", "OpenTelemetry") == "OpenTelemetry"
	c.ApplicationInsights = r.Has("logging.applicationInsights")
	c.LogLevels = logLevels(r.Texts("logging.logLevel"))
	l.readBundle(r)
	c.Functions = r.List("functions")
	c.WatchDirectories = always(r.List("watchDirectories"), "node_modules")
	c.WatchFiles = always(r.List("watchFiles"), document.HostFile, document.FunctionFile, document.ProxiesFile)
	l.readCustomHandler(r)
	return c, l.earlierBundle
}

func unless(dynamic bool, n int) int {
	if dynamic {
		return n
	}
	return -1
}

// always adds names to a list in which they are not.
func always(list []string, names ...string) []string {
	list = slices.Clone(list)
	for _, n := range names {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// readTimeout applies spec host-and-retry 8 (host: ScriptJobHostOptionsSetup.cs).
func (l *configReader) readTimeout(r document.Reader, dynamic bool) {
	c := l.config
	c.FunctionTimeout = localLimit
	if dynamic {
		c.FunctionTimeout = cloudLimit
	}
	const path = "functionTimeout"
	// "-1" is meant here, so it is no odd reading.
	d, ok := document.Reader{Doc: r.Doc}.Duration(path)
	bad := func(reason string) {
		f := r.Doc.Fault(path, r.Doc.Found(path), `"00:00:01" to "00:10:00" in the Consumption plan`, reason)
		f.Kind = schemas.KindArgument
		l.Fault(f)
	}
	switch {
	case !ok: // absent, or the schema says what is wrong
	case d == unlimited && !dynamic:
		c.FunctionTimeout = 0
	case d == unlimited:
		bad("functionTimeout cannot be unlimited in the Consumption plan")
	case dynamic && d > cloudMost:
		bad("functionTimeout must be at most 10 minutes in the Consumption plan")
	case d >= time.Second:
		c.FunctionTimeout, _ = r.Duration(path)
	}
}

// policyOrigin says whether an override gives part of the app policy.
func (l *configReader) policyOrigin(r document.Reader) string {
	for _, p := range document.PolicyProperties {
		path := "retry." + p
		if r.Has(path) && r.Doc.Source(path) != document.HostFile {
			return document.EnvironmentFile
		}
	}
	return document.HostFile
}

// readCustomHandler reads customHandler, or httpWorker in its older form; with
// both the former wins (spec host-and-retry 6.2, spec workers 13.1).
func (l *configReader) readCustomHandler(r document.Reader) {
	section := "customHandler"
	if old := "httpWorker"; r.HasSection(old) {
		reason := "httpWorker is the older name of customHandler"
		if r.HasSection(section) {
			reason += " and is ignored beside it"
		} else {
			section = old
		}
		f := r.Doc.Fault(old, "", "customHandler", reason)
		f.Hint = "rename it to customHandler"
		l.Warn(f)
	}
	if !r.HasSection(section) {
		return
	}
	description := section + HandlerDescription
	h := &CustomHandler{
		Section:               section,
		DefaultExecutablePath: r.Text(description+"defaultExecutablePath", ""),
		WorkingDirectory:      r.Text(description+"workingDirectory", ""),
		Arguments:             r.List(description + "arguments"),
		DefaultWorkerPath:     r.Text(description+"defaultWorkerPath", ""),
		WorkerArguments:       r.List(description + "workerArguments"),
		Forward:               r.Flag(section+".enableForwardingHttpRequest", false),
		Proxy:                 r.Flag(section+".enableProxyingHttpRequest", false),
		Port:                  r.Number(section+".port", 0, 0, 65535),
		OverHTTP:              overHTTP(r, section),
	}
	l.config.CustomHandler = h
}

// HandlerVariables are given to an HTTP custom handler alone, when it starts.
var HandlerVariables = []string{"FUNCTIONS_CUSTOMHANDLER_PORT", "FUNCTIONS_HTTPWORKER_PORT"} // read only

// overHTTP reports whether a section customHandler says that its program serves HTTP.
func overHTTP(r document.Reader, section string) bool {
	if section == "httpWorker" || r.Has(section+".type") || r.Has(section+".port") || r.Has(section+".http") {
		return true
	}
	for _, argument := range r.List(section + ".description.arguments") {
		for _, v := range HandlerVariables {
			if strings.Contains(strings.ToUpper(argument), "%"+v+"%") {
				return true
			}
		}
	}
	return r.Flag(section+".enableForwardingHttpRequest", false) || r.Flag(section+".enableProxyingHttpRequest", false)
}
