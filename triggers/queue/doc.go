// Package queue is the storage queue trigger: it takes messages off a queue,
// runs a function for each, and deletes, releases or moves them to the poison
// queue by the outcome.
//
// Start with [Listener]. The rules follow the platform's own extension: the
// polling series in backoff.go, the table of what happens to a message in
// delivery.go, the lock's renewal in renewal.go. A [Watcher] ends a wait
// early when a message was added in the same host.
//
// The service counts deliveries and hides messages; a message is poison because
// this package says so, after MaxDequeueCount deliveries. Retries within a
// delivery happen behind triggers.Sink and are not seen here.
//
// Source of all behaviour, unless said otherwise: azure-sdk-for-net,
// Microsoft.Azure.WebJobs.Extensions.Storage.Common/src/Shared/Queues:
// QueueListener.cs, QueueProcessor.cs.
package queue
