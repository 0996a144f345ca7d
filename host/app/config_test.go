package app_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/schemas"
)

// defaultConfig is section 6.2 for four processors.
func defaultConfig() hostjson.Config {
	return hostjson.Config{
		FunctionTimeout: 30 * time.Minute,
		HTTP:            hostjson.HTTP{RoutePrefix: "api", MaxOutstandingRequests: -1, MaxConcurrentRequests: -1},
		Queues: hostjson.Queues{
			BatchSize: 16, NewBatchThreshold: 32, MaxDequeueCount: 5, MaxPollingInterval: time.Minute, MessageEncoding: "base64",
		},
		Blobs: hostjson.Blobs{MaxDegreeOfParallelism: 32, PoisonBlobThreshold: 5},
		ServiceBus: hostjson.ServiceBus{
			AutoCompleteMessages: true, MaxAutoLockRenewalDuration: 5 * time.Minute, MaxConcurrentCalls: 64, MaxConcurrentSessions: 8,
			MaxConcurrentCallsPerSession: 1, MaxMessageBatchSize: 1000, MinMessageBatchSize: 1, MaxBatchWaitTime: 30 * time.Second, TryTimeout: time.Minute,
		},
		EventHubs: hostjson.EventHubs{
			MaxEventBatchSize: 100, MinEventBatchSize: 1, MaxWaitTime: time.Minute, BatchCheckpointFrequency: 1, EnableCheckpointing: true, InitialOffset: "fromStart",
			PartitionOwnershipExpirationInterval: 2 * time.Minute, LoadBalancingUpdateInterval: 30 * time.Second,
		},
		Durable: hostjson.DurableTask{
			At: "extensions.durableTask", MaxConcurrentActivityFunctions: 10, MaxConcurrentOrchestratorFunctions: 10, MaxConcurrentEntityFunctions: 10,
			MaxEntityOperationBatchSize: 5000, MaxOrchestrationActions: 100000, AsyncRequestSleep: 30 * time.Second,
		},
		Singleton: hostjson.Singleton{
			ListenerLockPeriod: time.Minute, ListenerLockRecoveryPollingInterval: time.Minute,
		},
		WatchDirectories: []string{"node_modules"},
		WatchFiles:       []string{"host.json", "function.json", "proxies.json"},
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]string{
		"missing file": "-", "empty object": "{}", "version only": `{"version": "2.0"}`,
		"null means not set":  `{"version": "2.0", "functionTimeout": null, "extensions": {"queues": null, "http": null, "serviceBus": {"sessionIdleTimeout": null}}, "singleton": null, "retry": null}`,
		"empty means not set": `{"version": "2.0", "functionTimeout": "", "extensions": {"serviceBus": {"sessionIdleTimeout": ""}}}`,
		"unknown sections":    `{"version": "2.0", "unheardOf": {"a": [1]}, "extensions": {"signalR": {"hubName": "x"}}}`,
	} {
		a := load(t, map[string]string{"host.json": host}, nil)
		wantNoFaults(t, a)
		if diff := cmp.Diff(defaultConfig(), a.Config); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A file with the schema's default for every setting changes nothing: the
// published defaults are the ones that hold.
func TestConfigSchemaDefaults(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(schemas.Schema(schemas.HostJSON), &root); err != nil {
		t.Fatal(err)
	}
	definitions := root["definitions"].(map[string]any)
	given := 0
	var defaults func(schema map[string]any) any
	defaults = func(schema map[string]any) any {
		if ref, ok := schema["$ref"].(string); ok {
			schema = definitions[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		}
		if value, ok := schema["default"]; ok {
			given++
			return value
		}
		properties, _ := schema["properties"].(map[string]any)
		object := map[string]any{}
		for name, sub := range properties {
			if value := defaults(sub.(map[string]any)); value != nil && name != "customHandler" && name != "httpWorker" {
				object[name] = value
			}
		}
		if len(object) == 0 {
			return nil
		}
		return object
	}
	file := defaults(root).(map[string]any)
	file["version"] = "2.0"
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	a, none := load(t, map[string]string{"host.json": string(text)}, nil), load(t, map[string]string{"host.json": `{"version": "2.0"}`}, nil)
	wantNoFaults(t, a)
	none.Config.Queues.MaxPollingExplicit = true // the one difference
	if diff := cmp.Diff(none.Config, a.Config); diff != "" {
		t.Errorf("the schema's defaults (-code +schema):\n%s", diff)
	}
	if diff := cmp.Diff(none.Switches, a.Switches, cmpopts.IgnoreFields(hostjson.Switches{}, "Explicit")); diff != "" {
		t.Errorf("the schema's switches (-code +schema):\n%s", diff)
	}
	if given < 40 {
		t.Errorf("the schema has %d defaults, which is too few", given)
	}
}

func TestConfigValues(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": `{
		"version": "2.0",
		// every key but version in any case, numbers as text and text as numbers
		"FunctionTimeout": "01:00:00",
		"aggregator": {"batchSize": 1, "flushTimeout": "00:05:00"},
		"concurrency": {"dynamicConcurrencyEnabled": true, "snapshotPersistenceEnabled": "False", "maximumFunctionConcurrency": -1, "cpuThreshold": 0.5},
		"customHandler": {"description": {"defaultExecutablePath": "x", "workingDirectory": "w", "arguments": ["a", "b"]}, "enableForwardingHttpRequest": true},
		"Extensions": {
			"HTTP": {"routePrefix": "", "maxOutstandingRequests": 20, "maxConcurrentRequests": 10, "dynamicThrottlesEnabled": true},
			"queues": {"batchSize": "+032", "newBatchThreshold": 0, "maxDequeueCount": 1.0, "maxPollingInterval": "00:01:00", "visibilityTimeout": "00:00:30", "messageEncoding": "None"},
			"blobs": {"maxDegreeOfParallelism": 1, "poisonBlobThreshold": 2},
			"serviceBus": {"autoCompleteMessages": false, "maxAutoLockRenewalDuration": "-00:00:00.0010000", "maxConcurrentCalls": 3, "maxConcurrentSessions": 4,
				"maxConcurrentCallsPerSession": 5, "maxMessageBatchSize": 6, "minMessageBatchSize": 2, "maxBatchWaitTime": "00:00:10", "sessionIdleTimeout": "00:00:20",
				"clientRetryOptions": {"tryTimeout": "00:00:30"}}
		},
		"extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
		"healthMonitor": {"enabled": false},
		"logging": {"logLevel": {"default": "warning", "Function.Orders.User": "Debug"}, "fileLoggingMode": "Always", "console": {"isEnabled": true}},
		"singleton": {"lockPeriod": "00:01:00", "listenerLockPeriod": "00:00:15", "lockAcquisitionTimeout": "00:00:03"},
		"watchDirectories": ["shared", "node_modules"],
		"watchFiles": ["myFile.txt"],
		"sendCanceledInvocationsToWorker": false,
		"metadataProviderTimeout": "00:00:45",
		"telemetryMode": "openTelemetry",
		"managedDependency": {"enabled": true},
	}`}, nil)
	wantNoFaults(t, a)
	want := defaultConfig()
	want.FunctionTimeout = time.Hour
	want.OpenTelemetry, want.ManagedDependencies = true, true
	want.LogLevels = hostjson.LogLevels{"default": "Warning", "Function.Orders.User": "Debug"}
	want.CustomHandler = &hostjson.CustomHandler{DefaultExecutablePath: "x", WorkingDirectory: "w", Arguments: []string{"a", "b"}, Section: "customHandler", Forward: true, OverHTTP: true}
	want.HTTP = hostjson.HTTP{MaxOutstandingRequests: 20, MaxConcurrentRequests: 10}
	want.Queues = hostjson.Queues{
		BatchSize: 32, NewBatchThreshold: 0, MaxDequeueCount: 1, MaxPollingInterval: time.Minute, MaxPollingExplicit: true,
		VisibilityTimeout: 30 * time.Second, MessageEncoding: "none",
	}
	want.Blobs = hostjson.Blobs{MaxDegreeOfParallelism: 1, PoisonBlobThreshold: 2}
	want.ServiceBus = hostjson.ServiceBus{
		MaxAutoLockRenewalDuration: -time.Millisecond, MaxConcurrentCalls: 3, MaxConcurrentSessions: 4, MaxConcurrentCallsPerSession: 5,
		MaxMessageBatchSize: 6, MinMessageBatchSize: 2, MaxBatchWaitTime: 10 * time.Second, SessionIdleTimeout: 20 * time.Second, TryTimeout: 30 * time.Second,
	}
	want.ExtensionBundle = &hostjson.ExtensionBundle{ID: "Microsoft.Azure.Functions.ExtensionBundle", Version: "[4.*, 5.0.0)"}
	want.Singleton.ListenerLockPeriod = 15 * time.Second
	want.WatchDirectories = []string{"shared", "node_modules"}
	want.WatchFiles = []string{"myFile.txt", "host.json", "function.json", "proxies.json"}
	if diff := cmp.Diff(want, a.Config); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Names of older extensions count where the present ones are not set (spec messaging
// 2.1).
func TestConfigOlderServiceBusNames(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": `{"version": "2.0", "extensions": {"serviceBus": {
		"messageHandlerOptions": {"maxConcurrentCalls": 3, "autoComplete": false, "maxAutoRenewDuration": "00:02:00"},
		"sessionHandlerOptions": {"maxConcurrentSessions": 4},
		"batchOptions": {"maxMessageCount": 5, "operationTimeout": "00:00:30"}}}}`}, nil)
	wantNoFaults(t, a)
	want := defaultConfig().ServiceBus
	want.AutoCompleteMessages, want.MaxAutoLockRenewalDuration, want.MaxConcurrentCalls = false, 2*time.Minute, 3
	want.MaxConcurrentSessions, want.MaxMessageBatchSize, want.TryTimeout = 4, 5, 30*time.Second
	if diff := cmp.Diff(want, a.Config.ServiceBus); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The Consumption plan changes limits and counts one processor.
func TestConfigConsumption(t *testing.T) {
	t.Parallel()
	a := load(t, nil, &app.Options{InProcess: true, Env: map[string]string{"WEBSITE_SKU": "Dynamic"}})
	wantNoFaults(t, a)
	c := a.Config
	if c.Queues.NewBatchThreshold != 8 || c.Blobs.MaxDegreeOfParallelism != 8 || c.HTTP.MaxOutstandingRequests != 200 || c.HTTP.MaxConcurrentRequests != 100 {
		t.Errorf("got threshold %d, blobs %+v, HTTP %+v", c.Queues.NewBatchThreshold, c.Blobs, c.HTTP)
	}
}

// Section 6.3: environment over host.json, key by key.
func TestConfigOverrides(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"host.json": `{"version": "2.0", "extensions": {"queues": {"batchSize": 4, "maxDequeueCount": 3}}, "watchFiles": ["a", "b"]}`,
		"local.settings.json": `{"IsEncrypted": false, "Values": {
			"AzureFunctionsJobHost__extensions__queues__maxDequeueCount": "9",
			"AzureFunctionsJobHost__extensions__queues__batchSize": "9"}}`,
	}, &app.Options{InProcess: true, Env: map[string]string{
		"azurefunctionsjobhost:Extensions:queues:batchSize": "8",
		"AzureFunctionsJobHost__watchFiles__1":              "c",
		// Of a section that host.json lacks.
		"AzureFunctionsJobHost__singleton__listenerLockPeriod": "00:00:20",
	}})
	wantNoFaults(t, a)
	c := a.Config
	if c.Queues.BatchSize != 8 || c.Queues.MaxDequeueCount != 9 {
		t.Errorf("queues: got %+v", c.Queues)
	}
	if diff := cmp.Diff([]string{"a", "c", "host.json", "function.json", "proxies.json"}, c.WatchFiles); diff != "" {
		t.Errorf("watchFiles (-want +got):\n%s", diff)
	}
	if c.Singleton.ListenerLockPeriod != 20*time.Second {
		t.Errorf("singleton: got %+v", c.Singleton)
	}
}

// The older section works alone and with a warning.
func TestHTTPWorkerSection(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": hostWith(`"httpWorker": {"description": {"defaultExecutablePath": "old"}}`)}, nil)
	wantNoFaults(t, a)
	if a.Config.CustomHandler == nil || a.Config.CustomHandler.DefaultExecutablePath != "old" || len(a.Warnings) != 1 {
		t.Errorf("got %+v, warnings %v", a.Config.CustomHandler, a.Warnings)
	}
	// A fault of its program names the section that host.json has.
	a = load(t, map[string]string{"app": "x", "host.json": hostWith(`"httpWorker": {"description": {"defaultExecutablePath": "bin/none"}}`)}, &app.Options{})
	if f := a.Handler.Fault; f == nil || f.Path != "httpWorker.description.defaultExecutablePath" || f.Column <= 1 {
		t.Errorf("fault %v, want one at httpWorker.description.defaultExecutablePath", f)
	}
}
