package config_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
)

// hubs is a file of the Event Hubs emulator.
func hubs(entities string) string {
	return `{"UserConfig": {"NamespaceConfig": [{"Type": "EventHub", "Name": "emulatorNs1", "Entities": [` + entities + `]}], "LoggingConfig": {"Type": "File"}}}`
}

// The official file is read: there a number of partitions is a text, which everybody
// writes as a number too.
func TestHubs(t *testing.T) {
	t.Parallel()
	h, faults := config.ParseHubs("Config.json", []byte(hubs(`
		{"Name": "eh1", "PartitionCount": "2", "ConsumerGroups": [{"Name": "cg1"}, {"Name": "$default"}]},
		{"Name": "eh2", "PartitionCount": 1024}`)))
	if len(faults)+len(h.Warnings) > 0 {
		t.Fatalf("faults %v, warnings %v", faults, h.Warnings)
	}
	want := []config.Hub{
		{Name: "eh1", PartitionCount: 2, ConsumerGroups: []string{"cg1"}, Path: "UserConfig.NamespaceConfig[0].Entities[0]"},
		{Name: "eh2", PartitionCount: 1024, Path: "UserConfig.NamespaceConfig[0].Entities[1]"},
	}
	if diff := cmp.Diff(want, h.List); diff != "" {
		t.Errorf("hubs (-want +got):\n%s", diff)
	}
}

// TestHubFaults: one error for each fault, with its path.
func TestHubFaults(t *testing.T) {
	t.Parallel()
	const ns, e = "UserConfig.NamespaceConfig", "UserConfig.NamespaceConfig[0].Entities[0]"
	hub := func(rest string) string { return hubs(`{"Name": "h", ` + rest + `}`) }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no JSON", `{`, []string{": "}},
		{"no object", `[]`, []string{": not an object"}},
		{"empty", `{}`, []string{"UserConfig: is required"}},
		{"no namespace", `{"UserConfig": {}}`, []string{ns + ": is required"}},
		{"namespace is no list", `{"UserConfig": {"NamespaceConfig": {}}}`, []string{ns + ": there is exactly one namespace"}},
		{"no namespace in the list", `{"UserConfig": {"NamespaceConfig": []}}`, []string{ns + ": there is exactly one namespace"}},
		{"empty namespace", `{"UserConfig": {"NamespaceConfig": [{}]}}`, []string{ns + "[0].Type: is required", ns + "[0].Name: is required", ns + "[0].Entities: is required"}},
		{"namespace is null", `{"UserConfig": {"NamespaceConfig": [null]}}`, []string{ns + "[0]: not an object"}},
		{"other namespace", `{"UserConfig": {"NamespaceConfig": [{"Type": "Kafka", "Name": "ns", "Entities": []}]}}`, []string{ns + "[0].Type: the namespace is of another type", ns + "[0].Name: the namespace of the emulator has another name"}},
		{"the other emulator's", namespace(`"Queues": [{"Name": "q"}]`), []string{"UserConfig.Namespaces: this is the Config.json of the Service Bus emulator"}},
		{"logging", `{"UserConfig": {"NamespaceConfig": [{"Type": "EventHub", "Name": "emulatorns1", "Entities": []}], "LoggingConfig": {"Type": "Syslog"}}}`, []string{"UserConfig.LoggingConfig.Type: not one of the allowed values"}},
		{"hub without anything", hubs(`{}`), []string{e + ".Name: is required", e + ".PartitionCount: is required"}},
		{"name of a hub", hubs(`{"Name": "a b", "PartitionCount": "1"}`), []string{e + ".Name: not the name of a hub"}},
		{"two of a name", hubs(`{"Name": "h", "PartitionCount": "1"}, {"Name": "H", "PartitionCount": "1"}`), []string{"UserConfig.NamespaceConfig[0].Entities[1].Name: the name is taken by " + e}},
		{"no partitions", hub(`"PartitionCount": "0"`), []string{e + ".PartitionCount: out of range"}},
		{"too many partitions", hub(`"PartitionCount": 1025`), []string{e + ".PartitionCount: out of range"}},
		{"very many partitions", hub(`"PartitionCount": "99999999999999999999"`), []string{e + ".PartitionCount: out of range"}},
		{"half a partition", hub(`"PartitionCount": 1.5`), []string{e + ".PartitionCount: not a whole number"}},
		{"partitions in words", hub(`"PartitionCount": "two"`), []string{e + ".PartitionCount: not a whole number"}},
		{"partitions are no number", hub(`"PartitionCount": true`), []string{e + ".PartitionCount: not a number"}},
		{"groups are no list", hub(`"PartitionCount": 1, "ConsumerGroups": "cg1"`), []string{e + ".ConsumerGroups: not a list"}},
		{"group without a name", hub(`"PartitionCount": 1, "ConsumerGroups": [{}]`), []string{e + ".ConsumerGroups[0].Name: is required"}},
		{"name of a group", hub(`"PartitionCount": 1, "ConsumerGroups": [{"Name": "$x"}]`), []string{e + ".ConsumerGroups[0].Name: not the name of a consumer group"}},
		{"two groups of a name", hub(`"PartitionCount": 1, "ConsumerGroups": [{"Name": "g"}, {"Name": "G"}]`), []string{e + ".ConsumerGroups[1].Name: the name is taken by " + e + ".ConsumerGroups[0]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, faults := config.ParseHubs("Config.json", []byte(c.text))
			var got []string
			for _, f := range faults {
				text := fmt.Sprintf("%s: %s", f.Path, f.Reason)
				if c.want[0] == ": " {
					text = ": "
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
