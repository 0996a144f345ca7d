package cosmosdb

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/cosmos"
)

// LeaseStatus is one range in a lease container.
type LeaseStatus struct {
	ID    string // of the lease document
	Range string

	// Exists is false when the range has no lease, or none yet.
	Exists       bool
	Owner        string // empty: none
	Continuation string // with its quotes; empty: none yet
	Changed      time.Time

	// Err says why the document cannot be used. Nothing above but ID, Range and
	// Exists is known then.
	Err error
}

// Leases reads from the lease container in the state of each range of a
// monitored container under a prefix, in the order of the ranges.
// accountHost is the host of the monitored account. It changes nothing.
func Leases(ctx context.Context, monitored cosmos.Feed, accountHost, prefix string, in cosmos.Container) ([]LeaseStatus, error) {
	s, err := openLeases(ctx, monitored, accountHost, prefix, in)
	if err != nil {
		return nil, err
	}
	bad := map[string]error{}
	all, err := s.all(ctx, func(id string, err error) { bad[id] = err })
	if err != nil {
		return nil, err
	}
	byRange := map[string]*lease{}
	for _, l := range all {
		byRange[l.LeaseToken] = l
	}
	var out []LeaseStatus
	for _, r := range s.ranges {
		st := LeaseStatus{ID: s.id(r.ID), Range: r.ID}
		if l := byRange[r.ID]; l != nil {
			st.Exists, st.Owner, st.Continuation, st.Changed = true, l.owner(), l.continuation(), l.changed().UTC()
		} else if err := bad[st.ID]; err != nil {
			st.Exists, st.Err = true, err
		}
		out = append(out, st)
	}
	return out, nil
}
