// Package blob is the blob trigger: it finds blobs that are new or changed and
// runs functions for them.
//
// Start with [Shared] and its [Shared.Listener]. The way of a blob has two
// halves, joined by a queue:
//
//	scanner.go   a blob has a new ETag: found in a listing, or told by the service
//	executor.go  each function whose pattern matches gets one control message for
//	             that ETag, whoever else scans: receipts and leases see to it
//	router.go    the control queue's messages become deliveries of functions
//
// All blob functions of a host share one control queue, so the second half is a
// queue.Listener with its rules for failure: five deliveries, then a message in
// webjobs-blobtrigger-poison. A receipt says that a version was queued, never
// that a function succeeded.
//
// What it leaves out: the paged scan with a persisted checkpoint, and reading
// storage logs, that the platform uses on accounts in the cloud (spec storage 9.1,
// hybrid). Every account is scanned as development storage is: whole containers,
// with the newest modification seen kept in memory, and receipts as the truth.
//
// Source of all behaviour, unless said otherwise: azure-sdk-for-net,
// Microsoft.Azure.WebJobs.Extensions.Storage.Blobs/src/Listeners.
package blob
