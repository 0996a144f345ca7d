package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
)

// FuzzParseHubs: every fault names the file, what is wrong and, but for text that is no
// JSON, the path and what is allowed. Hubs of a file without faults are hubs that the
// service takes, each once, and written anew they are read as the same.
func FuzzParseHubs(f *testing.F) {
	for _, file := range []string{"eventhubs-config/hubs.json", "servicebus-config-hubs/bus/Config.json"} {
		text, err := os.ReadFile(filepath.Join("../../../../testdata/broken", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(hubs(`{"Name": "eh1", "PartitionCount": "2", "ConsumerGroups": [{"Name": "cg1", "UserMetadata": "x"}]}`))
	f.Add(hubs(`{"Name": "h", "PartitionCount": "01"}, {"name": "H", "PartitionCount": 2e0, "ConsumerGroups": [{"Name": "$default"}, null, {"Name": "g"}, {"Name": "G"}]}`))
	f.Add(hubs(`{"": {"": []}, "Name": "", "PartitionCount": "+1", "ConsumerGroups": null}, null, []`))
	f.Add(namespace(`"Queues": []`))
	f.Fuzz(func(t *testing.T, text string) {
		h, faults := config.ParseHubs("Config.json", []byte(text))
		for _, fault := range faults {
			if fault.File != "Config.json" || fault.Reason == "" || fault.Line < 1 {
				t.Errorf("a fault without file, place or reason: %#v", fault)
			}
		}
		if len(faults) > 0 {
			return
		}
		names := map[string]bool{}
		for _, hub := range h.List {
			if names[strings.ToLower(hub.Name)] {
				t.Errorf("two hubs %q", hub.Name)
			}
			names[strings.ToLower(hub.Name)] = true
			if err := eventhubs.CheckName(hub.Name); err != nil {
				t.Errorf("%q is taken: %v", hub.Name, err)
			}
			if hub.PartitionCount < 1 || hub.PartitionCount > eventhubs.MaxPartitions {
				t.Errorf("%q has %d partitions", hub.Name, hub.PartitionCount)
			}
			for _, group := range hub.ConsumerGroups {
				if err := eventhubs.CheckConsumerGroup(group); err != nil || strings.EqualFold(group, eventhubs.DefaultConsumerGroup) {
					t.Errorf("%q: group %q is taken: %v", hub.Name, group, err)
				}
			}
		}
		again, faults := config.ParseHubs("Config.json", written(t, h.List))
		if len(faults)+len(again.Warnings) > 0 {
			t.Fatalf("written anew: %v %v", faults, again.Warnings)
		}
		if diff := cmp.Diff(again.List, h.List, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(config.Hub{}, "Path")); diff != "" {
			t.Errorf("written anew (-got +want)\n%s", diff)
		}
	})
}

// written is a file with these hubs.
func written(t *testing.T, list []config.Hub) []byte {
	t.Helper()
	type group struct{ Name string }
	type hub struct {
		Name, PartitionCount string
		ConsumerGroups       []group
	}
	entities := []hub{}
	for _, h := range list {
		e := hub{Name: h.Name, PartitionCount: strconv.Itoa(h.PartitionCount), ConsumerGroups: []group{}}
		for _, name := range h.ConsumerGroups {
			e.ConsumerGroups = append(e.ConsumerGroups, group{name})
		}
		entities = append(entities, e)
	}
	text, err := json.Marshal(entities)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(hubs(string(text[1 : len(text)-1])))
}
