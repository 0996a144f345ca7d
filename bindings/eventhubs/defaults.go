package eventhubs

import "time"

// Defaults of host.json's extensions.eventHubs (spec messaging 6.1).
const (
	DefaultMaxEventBatchSize   = 100
	DefaultMinEventBatchSize   = 1
	DefaultMaxWait             = time.Minute
	DefaultCheckpointFrequency = 1
	DefaultOwnershipExpiration = 2 * time.Minute
	DefaultUpdateInterval      = 30 * time.Second
)

// Defaults of a hub that does not say otherwise.
const (
	DefaultPartitions = 4
	DefaultRetention  = 24 * time.Hour
)
