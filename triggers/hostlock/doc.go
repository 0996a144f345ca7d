// Package hostlock keeps hosts on one storage account from doing the same work
// twice: a lock is the lease on a blob in the host's account, and the owner of
// the lease has the lock. The platform uses such locks for the primary host,
// for listeners that must run once (timers), and for the scan of blob
// containers (spec host-and-retry 11.2).
//
// Start with [New] and [Lock.Hold]. A lock is no fence: a host that was stopped
// for longer than its lease goes on for a moment, until it finds that the lock
// is lost.
//
// Source: sdk: BlobLeaseDistributedLockManager.cs, SingletonManager.cs.
package hostlock
