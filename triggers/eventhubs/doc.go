// Package eventhubs is the trigger for Event Hubs.
//
// A [Listener] shares the partitions of a hub with the other listeners of its
// consumer group, reads its own share, and hands the events to the function, one
// batch of a partition at a time. When the batch is over, with all its attempts,
// however it ended, the position behind it is written as a checkpoint: Event Hubs
// has no poison handling. While attempts are made the partition stands still.
//
// Read [Options] first, then listener.go (who has which partition), pump.go (the way
// of a batch), store.go (checkpoints and ownership in blobs) and balance.go (which
// partition to take next).
//
// Source: Microsoft.Azure.WebJobs.Extensions.EventHubs, src/Listeners/
// EventHubListener.PartitionProcessor.cs, and the load balancing of
// Azure.Messaging.EventHubs.Shared; spec messaging 6.
//
// Left out: dynamic concurrency, scaling, and what only a client of the cloud needs.
package eventhubs
