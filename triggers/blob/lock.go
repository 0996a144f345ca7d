package blob

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
)

const (
	lockLease = 60 * time.Second // of a listener's lock (host-and-retry 11.2)
	lockRenew = lockLease / 2
	lockRetry = 5 * time.Second // while another host has it
)

// LockName is the name of the blob in HostContainer whose lease says which host
// scans: only one does, among those with the same ID.
//
// Source: BlobListenerFactory.cs, for the scope; BlobLeaseDistributedLockManager.cs.
func LockName(hostID string) string {
	return "locks/" + hostID + "/WebJobs.Internal.Blobs.Listener"
}

// scanLock is the lease of the host that scans.
type scanLock struct {
	clk   clock.Clock
	hosts bindings.Container
	blob  bindings.Blob
	held  func(bool) // is told each time that the lease comes or goes
}

// keep takes the lease whenever it is to be had, and keeps it until ctx ends.
// Faults of the service are waited out: another host may scan meanwhile.
func (l *scanLock) keep(ctx context.Context) error {
	for ctx.Err() == nil {
		id, err := l.acquire(ctx)
		if err != nil {
			if !errors.Is(err, bindings.ErrLeaseHeld) && !passing(err) && ctx.Err() == nil {
				return err
			}
			if l.clk.Idle(ctx, lockRetry) != nil {
				return nil
			}
			continue
		}
		l.held(true)
		for err == nil {
			if l.clk.Idle(ctx, lockRenew) != nil {
				break
			}
			_, err = l.blob.RenewLease(ctx, id, nil)
		}
		l.held(false)
		if ctx.Err() != nil {
			// Without this the next host would wait for the end of the lease.
			_, _ = l.blob.ReleaseLease(context.WithoutCancel(ctx), id, nil)
		}
	}
	return nil
}

// acquire takes the lease, on a blob that is made if need be.
func (l *scanLock) acquire(ctx context.Context) (id string, err error) {
	for range 3 {
		lease, err := l.blob.AcquireLease(ctx, lockLease, "", nil)
		switch {
		case err == nil:
			return lease.ID, nil
		case errors.Is(err, bindings.ErrContainerNotFound):
			_, err = l.hosts.Create(ctx, nil)
		case errors.Is(err, bindings.ErrNotFound):
			_, err = l.blob.Put(ctx, bytes.NewReader(nil), &bindings.PutBlobOptions{
				Conditions: &bindings.BlobConditions{IfNoneMatch: "*"},
			})
		default:
			return "", err
		}
		if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return "", err
		}
	}
	return "", bindings.ErrUnavailable
}
