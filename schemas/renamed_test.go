package schemas_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// TestRenamedKeys: the schemas know the present name of each renamed key, where they
// know its section, and, with the same type, each old name that is still read.
func TestRenamedKeys(t *testing.T) {
	t.Parallel()
	for _, name := range []schemas.Name{schemas.HostJSON, schemas.FunctionJSON} {
		var root map[string]any
		if err := json.Unmarshal(schemas.Schema(name), &root); err != nil {
			t.Fatal(err)
		}
		for _, n := range schemas.RenamedKeys(name) {
			now := follow(root, strings.TrimPrefix(n.In+"."+n.New, "."))
			known := n.In != "" || follow(root, n.New) != nil
			if n.New != "" && known && now == nil {
				t.Errorf("%s: the new name of %+v is not in the schema", name, n)
			}
			if !n.Read {
				continue
			}
			old := follow(root, strings.TrimPrefix(n.In+"."+n.Old, "."))
			if old == nil || old["type"] != now["type"] || old["format"] != now["format"] {
				t.Errorf("%s: the old name of %+v is not in the schema as the new one is", name, n)
			}
		}
	}
}

// TestReadEarlier: a property under its name of an earlier bundle is the present one.
func TestReadEarlier(t *testing.T) {
	t.Parallel()
	const text = `{"bindings": [{"type": "cosmosDBTrigger", "name": "docs", "databaseName": "shop", "CollectionName": "orders", "createLeaseCollectionIfNotExists": "maybe"}]}`
	d := parse(t, "function.json", text)
	if got := d.Validate(schemas.FunctionJSON); len(got) != 1 || got[0].Path != "bindings[0].containerName" {
		t.Errorf("without it: got %v, want containerName missing", got)
	}
	d.ReadEarlier()
	if got := d.Validate(schemas.FunctionJSON); len(got) != 1 || got[0].Path != "bindings[0].createLeaseCollectionIfNotExists" {
		t.Errorf("with it: got %v, want one about createLeaseCollectionIfNotExists", got)
	}
}

// TestEmptyTextIsNotGiven: empty text for what can be null on the platform.
func TestEmptyTextIsNotGiven(t *testing.T) {
	t.Parallel()
	for name, texts := range map[schemas.Name][]string{
		schemas.HostJSON: {
			`{"version": "2.0", "extensions": {"eventHubs": {"initialOffsetOptions": {"type": "", "enqueuedTimeUtc": ""}, "targetUnprocessedEventThreshold": ""}}}`,
			`{"version": "2.0", "extensions": {"serviceBus": {"sessionIdleTimeout": "", "sessionHandlerOptions": {"messageWaitTime": ""}}}}`,
			`{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": "x"}, "port": ""}}`,
		},
		schemas.FunctionJSON: {
			`{"bindings": [{"type": "eventHubTrigger", "name": "e", "eventHubName": "readings", "dataType": "", "cardinality": ""}]}`,
			`{"bindings": [{"type": "cosmosDBTrigger", "name": "d", "databaseName": "a", "containerName": "b", "startFromTime": "", "leasesContainerThroughput": ""}]}`,
		},
	} {
		for _, text := range texts {
			if got := parse(t, string(name), text).Validate(name); len(got) != 0 {
				t.Errorf("%s: got %v, want no fault", text, got)
			}
		}
	}
	// A time is still needed where the type asks for one.
	const text = `{"version": "2.0", "extensions": {"eventHubs": {"initialOffsetOptions": {"type": "fromEnqueuedTime", "enqueuedTimeUtc": ""}}}}`
	if got := parse(t, "host.json", text).Validate(schemas.HostJSON); len(got) != 1 {
		t.Errorf("%s: got %v, want one fault", text, got)
	}
}
