package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	a := load(t, files, &app.Options{InProcess: true, Env: map[string]string{"AzureWebJobsStorage": "UseDevelopmentStorage=true", "Docs": "AccountEndpoint=https://localhost:8081/", "NAME": "orders"}})
	wantNoFaults(t, a)
	got := function(t, a, "F").Trigger.CosmosTrigger()
	want := app.CosmosTrigger{
		Connection: "Docs", Database: "shop", Container: "orders",
		LeaseConnection: "Docs", LeaseDatabase: "shop", LeaseContainer: "locks", LeasePrefix: "p",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSettingsAreRead: each setting of host.json is read in this package, or the schema
// says that it has no effect.
func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
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
