package cosmosdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
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

// updateTries is how often a change of a lease is tried when others change it at
// the same time.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseUpdaterCosmos.cs.
const updateTries = 6

// errLeaseLost says that a lease has another owner now, or is gone.
var errLeaseLost = errors.New("lease lost")

// leases are the lease documents of one container for one prefix, as one owner sees
// them.
type leases struct {
	clk    clock.Clock
	in     cosmos.Container
	base   string // "<prefix><account host>_<database>_<container>"
	owner  string
	ranges []cosmos.Range // of the monitored container
}

// openLeases finds the leases of a monitored container in another one, which must
// be partitioned by /id.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseStoreManagerBuilder.cs.
func openLeases(ctx context.Context, monitored cosmos.Feed, accountHost, prefix string, in cosmos.Container) (*leases, error) {
	if key := in.Info().PartitionKey; key != "/id" {
		return nil, fmt.Errorf("lease container %q of database %q has the partition key %s: a lease container needs /id", in.Info().Name, in.Info().Database, key)
	}
	ranges, err := monitored.Ranges(ctx)
	if err != nil {
		return nil, err
	}
	return &leases{in: in, base: leaseBase(prefix, accountHost, monitored.Info()), ranges: ranges}, nil
}

// LeaseID is the identifier of the lease document for a range:
// "<prefix><account host>_<database rid>_<container rid>..<range>". Documents that
// say that leases were made, and the lock under which they are made, have ".info"
// and ".lock" in the place of the last two dots and the range.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseManagerCosmos.cs.
func LeaseID(prefix, accountHost string, container cosmos.ContainerInfo, rangeID string) string {
	return leaseBase(prefix, accountHost, container) + ".." + rangeID
}

func leaseBase(prefix, accountHost string, container cosmos.ContainerInfo) string {
	return fmt.Sprintf("%s%s_%s_%s", prefix, accountHost, container.DatabaseRID, container.RID)
}

func (s *leases) id(rangeID string) string { return s.base + ".." + rangeID }

// initialize makes a lease for each range, unless that was done before. Of several
// hosts one does it.
//
// Source: src/ChangeFeedProcessor/Bootstrapping/BootstrapperCore.cs.
func (s *leases) initialize(ctx context.Context) error {
	var lock string
	for {
		done, err := s.initialized(ctx)
		if done || err != nil {
			return err
		}
		if lock, err = s.lock(ctx); err != nil {
			return err
		}
		if lock != "" {
			break
		}
		if err := s.clk.Idle(ctx, lockRetry); err != nil {
			return err
		}
	}
	err := s.create(ctx)
	// Without this others would wait for the end of the lock.
	_ = s.in.Delete(context.WithoutCancel(ctx), s.base+".lock", cosmos.KeyText(s.base+".lock"), lock)
	return err
}

// initialized reports whether leases were made.
func (s *leases) initialized(ctx context.Context) (bool, error) {
	_, err := s.in.Read(ctx, s.base+".info", cosmos.KeyText(s.base+".info"))
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

// lock takes the lock and returns its etag; none means that another host has it. One
// that has been held for too long is taken away: the service would have removed it.
func (s *leases) lock(ctx context.Context) (etag string, err error) {
	id := s.base + ".lock"
	text, err := json.Marshal(map[string]any{"id": id, "ttl": int(lockTime / time.Second)})
	if err != nil { // plain values
		panic(err)
	}
	for tried := false; ; tried = true {
		made, err := s.in.Create(ctx, text)
		if err == nil {
			return made.ETag, nil
		}
		if !errors.Is(err, bindings.ErrAlreadyExists) || tried {
			return "", unless(err, bindings.ErrAlreadyExists)
		}
		held, err := s.in.Read(ctx, id, cosmos.KeyText(id))
		if err == nil && s.clk.Now().Before(held.Modified.Add(lockTime)) {
			return "", nil
		}
		if err == nil {
			err = s.in.Delete(ctx, id, held.Key, held.ETag)
		}
		if err != nil {
			return "", unless(err, bindings.ErrNotFound, bindings.ErrConditionNotMet)
		}
	}
}

// unless does not count it as a failure that another owner was faster.
func unless(err error, faster ...error) error {
	for _, target := range faster {
		if errors.Is(err, target) {
			return nil
		}
	}
	return err
}

// create makes the leases that are missed, and says that it was done.
func (s *leases) create(ctx context.Context) error {
	for _, r := range s.ranges {
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

// all returns the leases. Documents with the names of leases that cannot be used are
// told to bad and left out: they harm no other range.
func (s *leases) all(ctx context.Context, bad func(id string, err error)) ([]*lease, error) {
	items, err := s.in.Items(ctx, s.base+"..")
	if err != nil {
		return nil, err
	}
	var out []*lease
	for _, item := range items {
		l, err := readLease(item)
		if err == nil {
			err = s.check(l)
		}
		if err != nil {
			bad(item.ID, err)
			continue
		}
		out = append(out, l)
	}
	return out, nil
}

// check refuses a document that is no lease of this container.
func (s *leases) check(l *lease) error {
	if _, ok := s.rangeOf(l); !ok {
		return fmt.Errorf("lease %q is for the range %q, which the container does not have", l.ID, l.LeaseToken)
	}
	if l.ID != s.id(l.LeaseToken) {
		return fmt.Errorf("lease %q is for the range %q, whose lease is %q", l.ID, l.LeaseToken, s.id(l.LeaseToken))
	}
	return nil
}

func (s *leases) rangeOf(l *lease) (cosmos.Range, bool) {
	i := slices.IndexFunc(s.ranges, func(r cosmos.Range) bool { return r.ID == l.LeaseToken })
	if i < 0 {
		return cosmos.Range{}, false
	}
	return s.ranges[i], true
}

// acquire makes a lease this owner's, unless another owner was faster.
func (s *leases) acquire(ctx context.Context, seen *lease) (*lease, error) {
	return s.update(ctx, seen.ID, seen.owner(), func(l *lease) error {
		l.Owner = &s.owner
		if r, ok := s.rangeOf(l); ok {
			l.cover(r)
		}
		return nil
	})
}

// renew says that the owner is alive.
func (s *leases) renew(ctx context.Context, id string) error {
	_, err := s.update(ctx, id, s.owner, func(*lease) error { return nil })
	return err
}

// checkpoint replaces the position that this owner knows. If somebody else has
// changed it, the range is to be read from there: the lease counts as lost, and is
// taken again unchanged.
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

// update changes a lease that belongs to owner, or fails with errLeaseLost. A lease
// that another owner changes at the same time is read again.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseUpdaterCosmos.cs.
func (s *leases) update(ctx context.Context, id, owner string, f func(*lease) error) (*lease, error) {
	for range updateTries {
		item, err := s.in.Read(ctx, id, cosmos.KeyText(id))
		if errors.Is(err, bindings.ErrNotFound) {
			return nil, fmt.Errorf("lease %q: %w: the document is gone", id, errLeaseLost)
		}
		if err != nil {
			return nil, err
		}
		l, err := readLease(item)
		if err == nil {
			err = s.check(l)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errLeaseLost, err) // it cannot be owned as it is
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
	return nil, fmt.Errorf("lease %q: %w: others change it all the time", id, errLeaseLost)
}
