package blob

import "github.com/redeliver/redeliver/triggers/hostlock"

// LockName is the name of the blob in HostContainer whose lease says which host
// scans: only one does, among those with the same ID.
//
// Source: BlobListenerFactory.cs, for the scope; BlobLeaseDistributedLockManager.cs.
func LockName(hostID string) string {
	return hostlock.ListenerName(hostID, "WebJobs.Internal.Blobs")
}
