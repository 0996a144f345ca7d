package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// Older names of Event Hubs count where the present ones are not set. Source: NET
// EventHubWebJobsBuilderExtensions.cs.
func TestConfigOlderEventHubsNames(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": `{"version": "2.0", "extensions": {"eventHubs": {
		"maxBatchSize": 7,
		"initialOffsetOptions": {"type": "", "enqueuedTimeUtc": ""},
		"eventProcessorOptions": {"maxBatchSize": 2, "prefetchCount": 10},
		"partitionManagerOptions": {"leaseDuration": "00:00:31", "renewInterval": "00:00:21"}}}}`}, nil)
	wantNoFaults(t, a)
	want := defaultConfig().EventHubs
	want.MaxEventBatchSize = 2
	want.PartitionOwnershipExpirationInterval, want.LoadBalancingUpdateInterval = 31*time.Second, 21*time.Second
	if diff := cmp.Diff(want, a.Config.EventHubs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A present name goes before an older one, the first older one before the others.
func TestConfigOlderNamesBeside(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": `{"version": "2.0", "extensions": {"serviceBus": {
		"maxConcurrentCalls": 9, "messageHandlerOptions": {"maxConcurrentCalls": 3, "maxAutoRenewDuration": "00:02:00"},
		"sessionHandlerOptions": {"maxAutoRenewDuration": "00:03:00", "messageWaitTime": "00:00:07"}, "batchOptions": {"autoComplete": false}}}}`}, nil)
	wantNoFaults(t, a)
	want := defaultConfig().ServiceBus
	want.MaxConcurrentCalls, want.MaxAutoLockRenewalDuration, want.SessionIdleTimeout, want.AutoCompleteMessages = 9, 2*time.Minute, 7*time.Second, false
	if diff := cmp.Diff(want, a.Config.ServiceBus); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Under an older bundle the older names of Cosmos DB are the right ones.
func TestOlderCosmosNames(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"host.json":       hostWith(`"extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[3.3.0, 4.0.0)"}`),
		"F/function.json": functionJSON(`{"type": "cosmosDBTrigger", "name": "docs", "connectionStringSetting": "Docs", "databaseName": "shop", "collectionName": "%NAME%", "leaseCollectionName": "locks", "leaseCollectionPrefix": "p"}`, ""),
	}
	text := `{"type": "cosmosDBTrigger", "name": "docs", "direction": "in", "connectionStringSetting": "Docs", "databaseName": "shop", "collectionName": "%NAME%", "leaseCollectionName": "locks", "leaseCollectionPrefix": "p"}`
	a := load(t, files, &app.Options{
		InProcess: true, Declared: []call.Declaration{{Name: "InCode", Bindings: raw(text)}},
		Env: map[string]string{"AzureWebJobsStorage": "UseDevelopmentStorage=true", "Docs": "AccountEndpoint=https://localhost:8081/", "NAME": "orders"},
	})
	wantNoFaults(t, a)
	for _, f := range a.Functions {
		if len(f.Warnings) > 0 {
			t.Errorf("%s: warnings %v", f.Name, f.Warnings)
		}
	}
	got, inCode := function(t, a, "F").Trigger.CosmosTrigger(), function(t, a, "InCode").Trigger.CosmosTrigger()
	want := app.CosmosTrigger{
		Connection: "Docs", Database: "shop", Container: "orders",
		LeaseConnection: "Docs", LeaseDatabase: "shop", LeaseContainer: "locks", LeasePrefix: "p",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, inCode); diff != "" {
		t.Errorf("in code (-want +got):\n%s", diff)
	}
}

// Under a bundle that knows them no more, the older names are told in code as in a file.
func TestOlderNamesInCode(t *testing.T) {
	t.Parallel()
	const binding = `{"type": "cosmosDBTrigger", "name": "docs", "direction": "in", "connection": "Docs", "databaseName": "shop", "collectionName": "orders"}`
	a := load(t, map[string]string{
		"host.json":       hostWith(`"extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}`),
		"F/function.json": functionJSON(binding, ""),
	}, &app.Options{
		InProcess: true, Declared: []call.Declaration{{Name: "InCode", Bindings: raw(binding)}},
		Env: map[string]string{"AzureWebJobsStorage": "UseDevelopmentStorage=true", "Docs": "AccountEndpoint=https://localhost:8081/"},
	})
	told := func(name string) (list []string) {
		f := function(t, a, name)
		for _, fault := range append(f.Warnings, f.Faults...) {
			list = append(list, strings.TrimPrefix(fault.Path, name+".")+": "+fault.Reason+"; "+fault.Hint)
		}
		return list
	}
	if diff := cmp.Diff(told("F"), told("InCode")); diff != "" || len(told("F")) != 2 {
		t.Errorf("(-file +code):\n%s\n%q", diff, told("F"))
	}
}

// TestSettingsAreRead: each setting of host.json is read in this package or below it, or the schema
// says that it has no effect.
func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, below) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, n := range schemas.RenamedKeys(schemas.HostJSON) {
		if n.Read {
			source.WriteString(n.Old + `"`)
		}
	}
	var root map[string]any
	if err := json.Unmarshal(schemas.Schema(schemas.HostJSON), &root); err != nil {
		t.Fatal(err)
	}
	definitions := root["definitions"].(map[string]any)
	var walk func(path string, schema map[string]any)
	walk = func(path string, schema map[string]any) {
		if schema["x-effect"] == "none" {
			return
		}
		if ref, ok := schema["$ref"].(string); ok {
			schema = definitions[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		}
		if schema["x-effect"] == "none" {
			return
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, sub := range properties {
			walk(strings.TrimPrefix(path+"."+name, "."), sub.(map[string]any))
		}
		key := path[strings.LastIndex(path, ".")+1:]
		if len(properties) == 0 && !strings.Contains(source.String(), key+`"`) {
			t.Errorf("%s is in the schema, is never read, and is not said to have no effect", path)
		}
	}
	walk("", root)
}
