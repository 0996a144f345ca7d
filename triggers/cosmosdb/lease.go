package cosmosdb

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/cosmos"
)

// lease is a lease document: who reads a range, and how far it has come. The order
// of the fields is the platform's.
//
// Source: src/ChangeFeedProcessor/LeaseManagement/DocumentServiceLeaseCore.cs.
type lease struct {
	ID                string            `json:"id"`
	Version           int               `json:"version"` // 0: a lease for a range that the service named
	LeaseToken        string            `json:"LeaseToken"`
	PartitionID       string            `json:"PartitionId,omitempty"` // LeaseToken in older documents
	FeedRange         *feedRange        `json:"FeedRange,omitempty"`
	Owner             *string           `json:"Owner"`
	ContinuationToken *string           `json:"ContinuationToken"`
	Properties        map[string]string `json:"properties"`
	Timestamp         *time.Time        `json:"timestamp"` // of the last change by an owner
	Mode              string            `json:"Mode,omitempty"`

	// Properties that the service adds.
	ETag string `json:"_etag,omitempty"`
	TS   int64  `json:"_ts,omitempty"`
}

type feedRange struct {
	Range struct {
		Min string `json:"min"`
		Max string `json:"max"`
	} `json:"Range"`
}

// incremental is the mode of a feed that shows latest versions.
const incremental = "Incremental Feed"

// newLease is the lease of a range that never had an owner.
func newLease(id string, r cosmos.Range) *lease {
	l := &lease{ID: id, LeaseToken: r.ID, Properties: map[string]string{}, Mode: incremental}
	l.cover(r)
	return l
}

// cover writes down what the range is, which leases of older versions do not say.
func (l *lease) cover(r cosmos.Range) {
	if l.FeedRange == nil {
		l.FeedRange = &feedRange{}
		l.FeedRange.Range.Min, l.FeedRange.Range.Max = r.Min, r.Max
	}
}

func readLease(item *cosmos.Item) (*lease, error) {
	l := &lease{}
	if err := json.Unmarshal(item.Body, l); err != nil {
		return nil, fmt.Errorf("lease %q cannot be read: %w", item.ID, err)
	}
	if l.LeaseToken == "" {
		l.LeaseToken = l.PartitionID
	}
	if l.LeaseToken == "" {
		return nil, fmt.Errorf("lease %q names no range", item.ID)
	}
	if l.Properties == nil {
		l.Properties = map[string]string{}
	}
	return l, nil
}

func (l *lease) encode() []byte {
	text, err := json.Marshal(l)
	if err != nil { // plain values
		panic(err)
	}
	return text
}

// owner is the owner of the lease; empty: none.
func (l *lease) owner() string {
	if l.Owner == nil {
		return ""
	}
	return *l.Owner
}

// continuation is the position; empty: none yet.
func (l *lease) continuation() string {
	if l.ContinuationToken == nil {
		return ""
	}
	return *l.ContinuationToken
}

// changed is when an owner changed the lease last.
func (l *lease) changed() time.Time {
	if l.Timestamp != nil {
		return *l.Timestamp
	}
	return time.Unix(l.TS, 0)
}

// expired reports whether the lease is anybody's.
func (l *lease) expired(now time.Time, after time.Duration) bool {
	return l.owner() == "" || l.changed().Add(after).Before(now)
}
