package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/hosttest"
)

func describedHubs(entities string) string {
	return `{"UserConfig": {"NamespaceConfig": [{"Type": "EventHub", "Name": "emulatorNs1", "Entities": [` + entities + `]}], "LoggingConfig": {"Type": "File"}}}`
}

// The namespace has the hubs of the file and of host.json before functions name
// theirs, also after a change of the file and after a reset.
func TestEventHubsConfig(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventHub("Read", "READINGS", func(context.Context, functions.EventHubEvent) error { return nil })
	h := hosttest.New(t, &hosttest.Options{
		Files: map[string]string{
			"host.json":        `{"version": "2.0", "redeliver": {"eventHubs": {"config": "hubs/Config.json", "hubs": [{"name": "own", "partitionCount": 3}]}}}`,
			"hubs/Config.json": describedHubs(`{"Name": "readings", "PartitionCount": "2", "ConsumerGroups": [{"Name": "audit"}]}`),
		},
		Handlers: app,
	})
	look := func(want ...eventhubs.Hub) {
		t.Helper()
		h.Clock().Do("look", func() {
			got, err := h.Services().EventHubs().Hubs(context.Background())
			for i := range got {
				got[i].Retention = 0
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("hubs (-want +got): %v\n%s", err, diff)
			}
		})
	}
	own, readings := eventhubs.Hub{Name: "own", Partitions: 3}, eventhubs.Hub{Name: "readings", Partitions: 2, ConsumerGroups: []string{"audit"}}
	look(own, readings)
	if err := h.Edit("hubs/Config.json", describedHubs(`{"Name": "readings", "PartitionCount": "2", "ConsumerGroups": [{"Name": "audit"}, {"Name": "bill"}]}, {"Name": "more", "PartitionCount": 1}`)); err != nil {
		t.Fatal(err)
	}
	more := eventhubs.Hub{Name: "more", Partitions: 1}
	readings.ConsumerGroups = append(readings.ConsumerGroups, "bill")
	look(more, own, readings)
	if err := h.Edit("hubs/Config.json", describedHubs(`{"Name": "own", "PartitionCount": 1}`)); err == nil || !strings.Contains(err.Error(), "hubs/Config.json:1:") {
		t.Errorf("a name that host.json has: %v", err)
	}
	h.Reset()
	look(more, own, readings)
}
