package azure

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// leaser is one of the SDK's two lease clients, with the five operations that
// they have in common.
type leaser struct {
	acquire func(ctx context.Context, seconds int32) error
	renew   func(ctx context.Context) error
	change  func(ctx context.Context, proposed string) error
	release func(ctx context.Context) error
	end     func(ctx context.Context, seconds *int32) error
}

func (c *container) leaser(id string) (*leaser, error) {
	if c.nameErr != nil {
		return nil, c.nameErr
	}
	l, err := lease.NewContainerClient(c.client, &lease.ContainerClientOptions{LeaseID: orNil(id)})
	if err != nil {
		return nil, err
	}
	return &leaser{
		acquire: func(ctx context.Context, seconds int32) error {
			_, err := l.AcquireLease(ctx, seconds, nil)
			return err
		},
		renew: func(ctx context.Context) error { _, err := l.RenewLease(ctx, nil); return err },
		change: func(ctx context.Context, proposed string) error {
			_, err := l.ChangeLease(ctx, proposed, nil)
			return err
		},
		release: func(ctx context.Context) error { _, err := l.ReleaseLease(ctx, nil); return err },
		end: func(ctx context.Context, seconds *int32) error {
			_, err := l.BreakLease(ctx, &lease.ContainerBreakOptions{BreakPeriod: seconds})
			return err
		},
	}, nil
}

func (b *blob) leaser(id string) (*leaser, error) {
	if b.nameErr != nil {
		return nil, b.nameErr
	}
	client, err := b.at()
	if err != nil {
		return nil, err
	}
	l, err := lease.NewBlobClient(client, &lease.BlobClientOptions{LeaseID: orNil(id)})
	if err != nil {
		return nil, err
	}
	return &leaser{
		acquire: func(ctx context.Context, seconds int32) error {
			_, err := l.AcquireLease(ctx, seconds, nil)
			return err
		},
		renew: func(ctx context.Context) error { _, err := l.RenewLease(ctx, nil); return err },
		change: func(ctx context.Context, proposed string) error {
			_, err := l.ChangeLease(ctx, proposed, nil)
			return err
		},
		release: func(ctx context.Context) error { _, err := l.ReleaseLease(ctx, nil); return err },
		end: func(ctx context.Context, seconds *int32) error {
			_, err := l.BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: seconds})
			return err
		},
	}, nil
}

// leasable has the call that the methods of blob.Leasable need.
type leasable interface {
	leaser(id string) (*leaser, error)
}

// leaseCall makes one lease operation, with the lease that it is about.
func leaseCall(ctx context.Context, on leasable, id string, cond *blobapi.Conditions, f func(ctx context.Context, l *leaser) error) (*blobapi.Lease, error) {
	l, err := on.leaser(id)
	if err != nil {
		return nil, err
	}
	h, err := blobCall(ctx, leaseConditions(cond), func(ctx context.Context) error { return f(ctx, l) })
	if err != nil {
		return nil, err
	}
	return leaseAnswer(h), nil
}

func leaseAnswer(h http.Header) *blobapi.Lease {
	return &blobapi.Lease{
		ID: h.Get("X-Ms-Lease-Id"), ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"),
		Remaining: time.Duration(numberOf(h, "X-Ms-Lease-Time")) * time.Second,
	}
}

// wholeSeconds returns a duration as the wire has it; parts of a second count as
// one.
func wholeSeconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

func acquireLease(ctx context.Context, on leasable, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	seconds := wholeSeconds(d)
	switch {
	case d == blobapi.InfiniteLease:
		seconds = -1
	case d < blobapi.MinLease || d > blobapi.MaxLease:
		return nil, storage.NewError(storage.CodeInvalidHeaderValue)
	}
	return leaseCall(ctx, on, proposed, cond, func(ctx context.Context, l *leaser) error { return l.acquire(ctx, seconds) })
}

func renewLease(ctx context.Context, on leasable, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return leaseCall(ctx, on, id, cond, func(ctx context.Context, l *leaser) error { return l.renew(ctx) })
}

func changeLease(ctx context.Context, on leasable, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return leaseCall(ctx, on, id, cond, func(ctx context.Context, l *leaser) error { return l.change(ctx, proposed) })
}

func releaseLease(ctx context.Context, on leasable, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return leaseCall(ctx, on, id, cond, func(ctx context.Context, l *leaser) error { return l.release(ctx) })
}

func breakLease(ctx context.Context, on leasable, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	var seconds *int32
	if period != nil {
		if *period < 0 || *period > blobapi.MaxBreakPeriod {
			return nil, storage.NewError(storage.CodeInvalidHeaderValue)
		}
		s := wholeSeconds(*period)
		seconds = &s
	}
	return leaseCall(ctx, on, "", cond, func(ctx context.Context, l *leaser) error { return l.end(ctx, seconds) })
}

func (c *container) AcquireLease(ctx context.Context, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return acquireLease(ctx, c, d, proposed, cond)
}

func (c *container) RenewLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return renewLease(ctx, c, id, cond)
}

func (c *container) ChangeLease(ctx context.Context, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return changeLease(ctx, c, id, proposed, cond)
}

func (c *container) ReleaseLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return releaseLease(ctx, c, id, cond)
}

func (c *container) BreakLease(ctx context.Context, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return breakLease(ctx, c, period, cond)
}

func (b *blob) AcquireLease(ctx context.Context, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return acquireLease(ctx, b, d, proposed, cond)
}

func (b *blob) RenewLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return renewLease(ctx, b, id, cond)
}

func (b *blob) ChangeLease(ctx context.Context, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return changeLease(ctx, b, id, proposed, cond)
}

func (b *blob) ReleaseLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return releaseLease(ctx, b, id, cond)
}

func (b *blob) BreakLease(ctx context.Context, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return breakLease(ctx, b, period, cond)
}
