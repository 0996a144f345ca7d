package cosmosdb

import "time"

// The defaults of the trigger and of the change feed processor.
const (
	DefaultFeedPollDelay   = 5 * time.Second
	DefaultAcquireInterval = 13 * time.Second
	DefaultExpiration      = 60 * time.Second
	DefaultRenewInterval   = 17 * time.Second
	DefaultMaxItems        = 100
)

// minPollDelay is the shortest wait between two looks at a range without changes:
// what a request takes anyway.
const minPollDelay = 10 * time.Millisecond

// Options changes how a listener works; nil is the zero Options. The names in
// parentheses are the names in function.json, where times are in milliseconds.
type Options struct {
	// Owner names this listener in leases. Listeners that run at the same time
	// need different ones. A listener takes up the leases that bear its own name
	// at once: they are of its former life. Empty: "redeliver".
	Owner string

	// LeasePrefix begins the names of all lease documents
	// (leaseContainerPrefix). Functions that watch one container and share a lease
	// container need different ones, or they share the work.
	LeasePrefix string

	// CreateLeaseContainer makes the lease container, with the partition key /id,
	// when it does not exist (createLeaseContainerIfNotExists).
	CreateLeaseContainer bool

	// FeedPollDelay is the wait after a look at a range that had no changes
	// (feedPollDelay), at least 10 ms, which a request takes anyway. Zero:
	// DefaultFeedPollDelay.
	FeedPollDelay time.Duration

	// AcquireInterval is the time between two looks at the leases for ranges to
	// take (leaseAcquireInterval), Expiration the time after which a lease that was
	// not renewed is anybody's (leaseExpirationInterval), RenewInterval the time
	// between renewals (leaseRenewInterval). Zero: the defaults.
	AcquireInterval, Expiration, RenewInterval time.Duration

	// MaxItems is the largest number of documents in a batch
	// (maxItemsPerInvocation), which only a transaction may exceed. Zero:
	// DefaultMaxItems.
	MaxItems int

	// StartFromBeginning, or StartTime if it is not zero, say where a range begins
	// that has no lease yet (startFromBeginning, startFromTime). Without them it
	// is now. Leases that exist have their own position.
	StartFromBeginning bool
	StartTime          time.Time

	// WakeUp looks at a range as soon as it changes, where the container can tell
	// (wakeUp: fast), and not only when FeedPollDelay has passed.
	WakeUp bool

	// Written, if not nil, is told of each position behind a batch once it is in the
	// lease. It must not block.
	Written func(lease, continuation string)

	// Notify, if not nil, is told of a range that cannot be read or whose lease is
	// missing or not what it should be, once for each of them. The range is looked
	// at again after AcquireInterval. It must not block.
	Notify func(lease string, err error)
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	orElse := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	orElse(&out.FeedPollDelay, DefaultFeedPollDelay)
	orElse(&out.AcquireInterval, DefaultAcquireInterval)
	orElse(&out.Expiration, DefaultExpiration)
	orElse(&out.RenewInterval, DefaultRenewInterval)
	out.FeedPollDelay = max(out.FeedPollDelay, minPollDelay)
	if out.MaxItems == 0 {
		out.MaxItems = DefaultMaxItems
	}
	if out.Owner == "" {
		out.Owner = "redeliver"
	}
	if out.Written == nil {
		out.Written = func(string, string) {}
	}
	if out.Notify == nil {
		out.Notify = func(string, error) {}
	}
	return out
}
