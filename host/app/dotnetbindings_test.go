package app_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// written is a binding as the SDK of .NET writes it.
type written struct {
	Type, Direction string
	Raw             json.RawMessage
	Keys            []string
}

// dotnetBindings are the bindings of all attributes of the platform's worker, with each
// property of each at least once: those of extensions/*/src/*Attribute.cs of
// Azure/azure-functions-dotnet-worker, August 2026, as Worker.Sdk 2.1.0 writes them
// (those of Kafka, RabbitMQ, SendGrid and SignalR by its rules, sdk/Sdk/FunctionMetadataGenerator.cs).
func dotnetBindings(t *testing.T) (list []written) {
	t.Helper()
	f, err := os.Open("testdata/dotnet/bindings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w, members := written{Raw: json.RawMessage(lines.Text())}, map[string]any{}
		if err := json.Unmarshal(w.Raw, &members); err != nil {
			t.Fatal(err)
		}
		for key := range members {
			w.Keys = append(w.Keys, key)
		}
		slices.Sort(w.Keys)
		w.Type, _ = members["type"].(string)
		w.Direction, _ = members["direction"].(string)
		list = append(list, w)
	}
	return list
}

// Every binding that .NET writes loads, or is of a kind that is told as not served.
func TestDotnetBindings(t *testing.T) {
	t.Parallel()
	const settings = `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "Schedule": "0 0 0 * * *", "Secret": "s",
		"SB": "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=a2V5;UseDevelopmentEmulator=true",
		"EH": "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=a2V5;UseDevelopmentEmulator=true",
		"DB": "AccountEndpoint=https://localhost:8081/;AccountKey=a2V5;", "TopicUri": "http://localhost/t/api/events", "TopicKey": "k", "Grid__topicEndpointUri": "http://localhost/t/api/events"}}`
	refused := map[string]string{"AllVersionsAndDeletes": "Redeliver does not serve this mode"}
	for _, w := range dotnetBindings(t) {
		t.Run(w.Type+" "+w.Direction, func(t *testing.T) {
			t.Parallel()
			if w.Type == "table" { // the names of the other bindings are too short for one
				w.Raw = json.RawMessage(strings.ReplaceAll(string(w.Raw), `"tableName": "in"`, `"tableName": "inbox"`))
			}
			d := call.Declaration{Name: "F", Bindings: []json.RawMessage{w.Raw}}
			if !strings.HasSuffix(w.Type, "Trigger") {
				d.Bindings = append(raw(`{"type": "queueTrigger", "direction": "in", "name": "q", "queueName": "orders"}`), w.Raw)
			}
			a := load(t, map[string]string{"local.settings.json": settings}, &app.Options{InProcess: true, Declared: []call.Declaration{d}})
			f := function(t, a, "F")
			var faults []string
			for _, fault := range f.Faults {
				faults = append(faults, fault.Error())
			}
			for word, reason := range refused {
				if strings.Contains(string(w.Raw), word) && len(faults) == 1 && strings.Contains(faults[0], reason) {
					faults = nil
				}
			}
			if len(faults) > 0 {
				t.Errorf("%s: %s", w.Raw, strings.Join(faults, "\n"))
			}
			for _, b := range f.Bindings {
				if b.Type == "serviceBus" && b.String("queueName")+b.String("topicName") == "" {
					t.Errorf("%s: no entity: %v", w.Raw, b.Props)
				}
			}
		})
	}
}

// Every property of them is one of the schema.
func TestDotnetBindingProperties(t *testing.T) {
	t.Parallel()
	var root struct {
		Definitions map[string]struct{ Properties map[string]any }
		Properties  struct {
			Bindings struct {
				Items struct{ Properties map[string]any }
			}
		}
	}
	if err := json.Unmarshal(schemas.Schema(schemas.FunctionJSON), &root); err != nil {
		t.Fatal(err)
	}
	second := map[string]bool{}
	for _, n := range schemas.RenamedKeys(schemas.FunctionJSON) {
		if n.Also != nil {
			second[n.In+"."+n.Old] = true
		}
	}
	for _, w := range dotnetBindings(t) {
		own, served := root.Definitions[w.Type]
		if !served {
			continue // TestDotnetBindings knows of it
		}
		for _, key := range w.Keys {
			if own.Properties[key] == nil && root.Properties.Bindings.Items.Properties[key] == nil && key != "properties" && !second[w.Type+"."+key] {
				t.Errorf("%s.%s is not in the schema", w.Type, key)
			}
		}
	}
}

// Who writes the platform's own names into function.json is understood alike; the names of
// function.json count before them (WJ Extensions/JobHostMetadataProvider.cs, Touchups).
func TestPlatformNames(t *testing.T) {
	t.Parallel()
	const trigger = `{"type": "queueTrigger", "direction": "in", "name": "q", "queueName": "orders"}, `
	for _, tt := range []struct{ binding, key, want, path string }{
		{`{"type": "serviceBus", "direction": "out", "name": "b", "queueOrTopicName": "x"}`, "queueName", "x", "queueOrTopicName"},
		{`{"type": "serviceBus", "direction": "out", "name": "b", "QueueOrTopicName": "x", "EntityType": "queue"}`, "queueName", "x", "QueueOrTopicName"},
		{`{"type": "serviceBus", "direction": "out", "name": "b", "queueOrTopicName": "x", "entityType": "TOPIC"}`, "topicName", "x", "queueOrTopicName"},
		{`{"type": "serviceBus", "direction": "out", "name": "b", "queueOrTopicName": "x", "entityType": "Topic", "queueName": "y"}`, "queueName", "y", "queueName"},
		{`{"type": "serviceBus", "direction": "out", "name": "b", "queueOrTopicName": "x", "topicName": "y"}`, "topicName", "y", "topicName"},
		{`{"type": "blob", "direction": "in", "name": "b", "blobPath": "box/x"}`, "path", "box/x", "blobPath"},
		{`{"type": "blob", "direction": "out", "name": "b", "BlobPath": "box/x", "path": "box/y"}`, "path", "box/y", "path"},
	} {
		a := load(t, map[string]string{"F/function.json": `{"bindings": [` + trigger + tt.binding + `]}`,
			"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "AzureWebJobsServiceBus": "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=a2V5;UseDevelopmentEmulator=true"}}`}, nil)
		b := function(t, a, "F").Bindings[1]
		if got, path := b.String(tt.key), strings.TrimPrefix(b.PathOf(tt.key), b.Path+"."); got != tt.want || path != tt.path {
			t.Errorf("%s: %s is %q at %s, want %q at %s", tt.binding, tt.key, got, path, tt.want, tt.path)
		}
		wantNoFaults(t, a)
	}
}
