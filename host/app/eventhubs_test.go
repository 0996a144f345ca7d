package app_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app/hostjson"
)

func TestEventHubsConfig(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"host.json": `{
		"version": "2.0",
		"extensions": {"eventHubs": {"maxEventBatchSize": 7, "minEventBatchSize": 3, "maxWaitTime": "00:00:10", "batchCheckpointFrequency": 5, "enableCheckpointing": false,
			"loadBalancingStrategy": "Balanced", "initialOffsetOptions": {"type": "FromEnqueuedTime", "enqueuedTimeUtc": "2026-01-02T03:04:05Z"},
			"partitionOwnershipExpirationInterval": "00:01:00", "loadBalancingUpdateInterval": "00:00:10"}},
		"redeliver": {"eventHubs": {"hubs": [{"name": "orders", "partitionCount": 2, "consumerGroups": ["g"], "retention": "02:00:00"}, {"name": "other"}]}}
	}`}, nil)
	wantNoFaults(t, a)
	want := hostjson.EventHubs{
		MaxEventBatchSize: 7, MinEventBatchSize: 3, MaxWaitTime: 10 * time.Second, BatchCheckpointFrequency: 5, Balanced: true,
		InitialOffset: "fromEnqueuedTime", EnqueuedTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		PartitionOwnershipExpirationInterval: time.Minute, LoadBalancingUpdateInterval: 10 * time.Second,
		Hubs: []hostjson.EventHub{
			{Name: "orders", PartitionCount: 2, ConsumerGroups: []string{"g"}, Retention: 2 * time.Hour},
			{Name: "other", PartitionCount: 4, Retention: 24 * time.Hour},
		},
	}
	if diff := cmp.Diff(want, a.Config.EventHubs); diff != "" {
		t.Errorf("eventHubs (-want +got):\n%s", diff)
	}
}
