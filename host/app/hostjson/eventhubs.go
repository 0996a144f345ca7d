package hostjson

import (
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// HubsPath is the path of the hubs of the embedded namespace.
const HubsPath = "redeliver.eventHubs.hubs"

// EventHubs is extensions.eventHubs (spec messaging 6.1), and redeliver.eventHubs.
// Settings for clients of the cloud only (prefetchCount, transportType, ...) are
// not here.
type EventHubs struct {
	MaxEventBatchSize, MinEventBatchSize int
	MaxWaitTime                          time.Duration
	BatchCheckpointFrequency             int
	EnableCheckpointing                  bool
	Balanced                             bool // loadBalancingStrategy

	// InitialOffset is "fromStart", "fromEnd" or "fromEnqueuedTime"; EnqueuedTime
	// belongs to the last.
	InitialOffset string
	EnqueuedTime  time.Time

	PartitionOwnershipExpirationInterval time.Duration
	LoadBalancingUpdateInterval          time.Duration

	// Hubs are the hubs that the embedded namespace gets.
	Hubs []EventHub
}

// EventHub describes a hub of the embedded namespace.
type EventHub struct {
	Name           string
	PartitionCount int
	ConsumerGroups []string
	Retention      time.Duration
}

func readEventHubs(r document.Reader) EventHubs {
	const at = "extensions.eventHubs"
	now := func(name string) string { return r.Current(at, name) }
	c := EventHubs{
		MaxEventBatchSize:                    r.Number(now("maxEventBatchSize"), eventhubs.DefaultMaxEventBatchSize, 1, maxInt),
		MinEventBatchSize:                    r.Number(now("minEventBatchSize"), eventhubs.DefaultMinEventBatchSize, 1, maxInt),
		MaxWaitTime:                          r.Span(now("maxWaitTime"), eventhubs.DefaultMaxWait, 0, 10*minute),
		BatchCheckpointFrequency:             r.Number(now("batchCheckpointFrequency"), eventhubs.DefaultCheckpointFrequency, 1, maxInt),
		EnableCheckpointing:                  r.Flag(now("enableCheckpointing"), true),
		Balanced:                             r.Word(now("loadBalancingStrategy"), "greedy", "balanced") == "balanced",
		InitialOffset:                        r.Word(now("initialOffsetOptions.type"), "fromStart", "fromEnd", "fromEnqueuedTime"),
		PartitionOwnershipExpirationInterval: r.Span(now("partitionOwnershipExpirationInterval"), eventhubs.DefaultOwnershipExpiration, 1, document.Longest),
		LoadBalancingUpdateInterval:          r.Span(now("loadBalancingUpdateInterval"), eventhubs.DefaultUpdateInterval, 1, document.Longest),
	}
	if text := r.Text(now("initialOffsetOptions.enqueuedTimeUtc"), ""); text != "" {
		c.EnqueuedTime = document.UTCTime(text)
	}
	hubs, _ := r.Value(HubsPath).([]any)
	for i := range hubs {
		path := schemas.IndexPath(HubsPath, i)
		c.Hubs = append(c.Hubs, EventHub{
			Name:           r.Text(schemas.JoinPath(path, "name"), ""),
			PartitionCount: r.Number(schemas.JoinPath(path, "partitionCount"), eventhubs.DefaultPartitions, 1, 32),
			ConsumerGroups: r.List(schemas.JoinPath(path, "consumerGroups")),
			Retention:      r.Span(schemas.JoinPath(path, "retention"), eventhubs.DefaultRetention, 1, math.MaxInt64),
		})
	}
	return c
}
