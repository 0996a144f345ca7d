package cosmosdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
)

// The lock under which leases are made is held for lockTime at most; who does not
// get it looks again after lockRetry.
//
// Source: src/ChangeFeedProcessor/ChangeFeedProcessorCore.cs.
const (
	lockTime  = 30 * time.Second
	lockRetry = 15 * time.Second
)

// errLeaseLost says that a lease belongs to somebody else now, or is gone.
var errLeaseLost = errors.New("lease lost")

// leases are the lease documents of one container for one prefix, as one owner sees
// them.
type leases struct {
	clk   clock.Clock
	in    bindings.CosmosContainer
	base  string // "<prefix><account host>_<database>_<container>"
	owner string
}

// LeaseID is the identifier of the lease document for a range:
// "<prefix><account host>_<database rid>_<container rid>..<range>". Documents that
// say that leases were made, and the lock under which they are made, have ".info"
// and ".lock" in the place of the last two dots and the range.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseManagerCosmos.cs.
func LeaseID(prefix, accountHost string, container bindings.CosmosContainerInfo, rangeID string) string {
	return leaseBase(prefix, accountHost, container) + ".." + rangeID
}

func leaseBase(prefix, accountHost string, container bindings.CosmosContainerInfo) string {
	return fmt.Sprintf("%s%s_%s_%s", prefix, accountHost, container.DatabaseRID, container.RID)
}

func (s *leases) id(rangeID string) string { return s.base + ".." + rangeID }

// initialize makes a lease for each range, unless that was done before. Of several
// hosts one does it.
//
// Source: src/ChangeFeedProcessor/Bootstrapping/BootstrapperCore.cs.
func (s *leases) initialize(ctx context.Context, monitored bindings.CosmosContainer) error {
	for {
		done, err := s.initialized(ctx)
		if done || err != nil {
			return err
		}
		locked, err := s.lock(ctx)
		if err != nil {
			return err
		}
		if locked {
			break
		}
		if err := s.clk.Idle(ctx, lockRetry); err != nil {
			return err
		}
	}
	err := s.create(ctx, monitored)
	// Without this others would wait for the end of the lock.
	_ = s.in.Delete(context.WithoutCancel(ctx), s.base+".lock", bindings.CosmosKeyText(s.base+".lock"), "")
	return err
}

// initialized reports whether leases were made.
func (s *leases) initialized(ctx context.Context) (bool, error) {
	_, err := s.in.Read(ctx, s.base+".info", bindings.CosmosKeyText(s.base+".info"))
	if errors.Is(err, bindings.ErrNotFound) {
		return false, s.exists(ctx)
	}
	return err == nil, err
}

// exists fails with ErrNotFound when the lease container is gone: a document that
// is missed fails with the same.
func (s *leases) exists(ctx context.Context) error {
	_, err := s.in.Ranges(ctx)
	return err
}

// lock takes the lock; false means that another host has it. One that has been
// held for too long is taken away.
func (s *leases) lock(ctx context.Context) (bool, error) {
	id := s.base + ".lock"
	text, err := json.Marshal(map[string]any{"id": id, "ttl": int(lockTime / time.Second)})
	if err != nil { // plain values
		panic(err)
	}
	_, err = s.in.Create(ctx, text)
	if !errors.Is(err, bindings.ErrAlreadyExists) {
		return err == nil, err
	}
	held, err := s.in.Read(ctx, id, bindings.CosmosKeyText(id))
	if err != nil {
		return false, unlessMissing(err)
	}
	if s.clk.Now().Before(held.Modified.Add(lockTime)) {
		return false, nil
	}
	if err := s.in.Delete(ctx, id, held.Key, held.ETag); err != nil {
		return false, unlessMissing(err)
	}
	_, err = s.in.Create(ctx, text)
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return false, nil
	}
	return err == nil, err
}

// unlessMissing takes it for no failure that somebody else was faster.
func unlessMissing(err error) error {
	if errors.Is(err, bindings.ErrNotFound) || errors.Is(err, bindings.ErrConditionNotMet) {
		return nil
	}
	return err
}

// create makes the leases that are missed, and says that it was done.
func (s *leases) create(ctx context.Context, monitored bindings.CosmosContainer) error {
	ranges, err := monitored.Ranges(ctx)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := s.add(ctx, newLease(s.id(r.ID), r).encode()); err != nil {
			return err
		}
	}
	marker, err := json.Marshal(map[string]string{"id": s.base + ".info"})
	if err != nil { // plain values
		panic(err)
	}
	return s.add(ctx, marker)
}

func (s *leases) add(ctx context.Context, document []byte) error {
	_, err := s.in.Create(ctx, document)
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return nil
	}
	return err
}

// all returns the leases. Those that cannot be read are told to bad and left out.
func (s *leases) all(ctx context.Context, bad func(id string, err error)) ([]*lease, error) {
	items, err := s.in.Items(ctx, s.base+"..")
	if err != nil {
		return nil, err
	}
	var out []*lease
	for _, item := range items {
		l, err := readLease(item)
		if err != nil {
			bad(item.ID, err)
			continue
		}
		out = append(out, l)
	}
	return out, nil
}

// acquire makes a lease this owner's, unless somebody else was faster.
func (s *leases) acquire(ctx context.Context, seen *lease) (*lease, error) {
	return s.update(ctx, seen.ID, seen.owner(), func(l *lease) error { l.Owner = &s.owner; return nil })
}

// renew says that the owner is alive.
func (s *leases) renew(ctx context.Context, id string) error {
	_, err := s.update(ctx, id, s.owner, func(*lease) error { return nil })
	return err
}

// checkpoint writes the position, in the place of the one that this owner knows.
// Somebody who has changed it wants the range to be read from there: then the lease
// is lost, and taken again as it is.
func (s *leases) checkpoint(ctx context.Context, id, known, continuation string) error {
	_, err := s.update(ctx, id, s.owner, func(l *lease) error {
		if l.continuation() != known {
			return fmt.Errorf("lease %q: %w: its position was changed", id, errLeaseLost)
		}
		l.ContinuationToken = &continuation
		return nil
	})
	return err
}

// release gives a lease back.
func (s *leases) release(ctx context.Context, id string) error {
	_, err := s.update(ctx, id, s.owner, func(l *lease) error { l.Owner = nil; return nil })
	return err
}

// update changes a lease that belongs to owner, or fails with errLeaseLost. What
// others change at the same time is read again.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseUpdaterCosmos.cs.
func (s *leases) update(ctx context.Context, id, owner string, f func(*lease) error) (*lease, error) {
	for {
		item, err := s.in.Read(ctx, id, bindings.CosmosKeyText(id))
		if errors.Is(err, bindings.ErrNotFound) {
			return nil, fmt.Errorf("lease %q: %w: the document is gone", id, errLeaseLost)
		}
		if err != nil {
			return nil, err
		}
		l, err := readLease(item)
		if err != nil {
			return nil, err
		}
		if l.owner() != owner {
			return nil, fmt.Errorf("lease %q: %w: its owner is %q", id, errLeaseLost, l.owner())
		}
		if err := f(l); err != nil {
			return nil, err
		}
		now := s.clk.Now().UTC()
		l.Timestamp = &now
		_, err = s.in.Replace(ctx, l.encode(), item.ETag)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, bindings.ErrConditionNotMet) && !errors.Is(err, bindings.ErrNotFound):
			return nil, err
		}
	}
}
