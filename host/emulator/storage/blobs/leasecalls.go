package blobs

import (
	"context"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
)

// leasable is a handle whose lease f can change: a container or a blob. Nothing
// else of it changes.
type leasable interface {
	lease(ctx context.Context, op string, cond *blobapi.Conditions, f func(tx *blobTx, l lease) (lease, error)) (*blobapi.Lease, error)
}

func acquireLease(ctx context.Context, on leasable, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return on.lease(ctx, "AcquireLease", cond, func(tx *blobTx, l lease) (lease, error) {
		return l.acquire(tx.now, d, proposed, tx.newGUID)
	})
}

func renewLease(ctx context.Context, on leasable, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return on.lease(ctx, "RenewLease", cond, func(tx *blobTx, l lease) (lease, error) { return l.renew(tx.now, id) })
}

func changeLease(ctx context.Context, on leasable, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return on.lease(ctx, "ChangeLease", cond, func(tx *blobTx, l lease) (lease, error) { return l.change(tx.now, id, proposed) })
}

func releaseLease(ctx context.Context, on leasable, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return on.lease(ctx, "ReleaseLease", cond, func(_ *blobTx, l lease) (lease, error) { return l.release(id) })
}

func breakLease(ctx context.Context, on leasable, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	var remaining time.Duration
	out, err := on.lease(ctx, "BreakLease", cond, func(tx *blobTx, l lease) (_ lease, err error) {
		l, remaining, err = l.breakUp(tx.now, period)
		return l, err
	})
	if err != nil {
		return nil, err
	}
	out.ID, out.Remaining = "", remaining
	return out, nil
}
