package app

import (
	"strconv"
	"time"
)

// CosmosTrigger is a cosmosDBTrigger as function.json describes it (servicebus 7).
type CosmosTrigger struct {
	Connection, Database, Container                string
	LeaseConnection, LeaseDatabase, LeaseContainer string
	LeasePrefix                                    string
	CreateLeaseContainer                           bool

	// FeedPollDelay is negative for no delay; the others are 0 when they are not
	// set.
	FeedPollDelay, AcquireInterval, Expiration, RenewInterval time.Duration

	MaxItems           int // 0: the service's default
	StartFromBeginning bool
	StartTime          time.Time // zero: not set
}

// CosmosTrigger reads a binding that was checked. Leases are kept where the
// documents are, in the container "leases", unless something else is said.
func (b *Binding) CosmosTrigger() CosmosTrigger {
	or := func(name, standard string) string {
		if s := b.String(name); s != "" {
			return s
		}
		return standard
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(b.String(name)) // the schema has seen it
		return n
	}
	span := func(name string) time.Duration { return time.Duration(number(name)) * time.Millisecond }
	flag := func(name string) bool {
		on, _ := strconv.ParseBool(b.String(name))
		return on
	}
	t := CosmosTrigger{
		Connection:           or("connection", "CosmosDB"),
		Database:             b.String("databaseName"),
		Container:            b.String("containerName"),
		LeaseContainer:       or("leaseContainerName", "leases"),
		LeasePrefix:          b.String("leaseContainerPrefix"),
		CreateLeaseContainer: flag("createLeaseContainerIfNotExists"),
		FeedPollDelay:        span("feedPollDelay"),
		AcquireInterval:      span("leaseAcquireInterval"),
		Expiration:           span("leaseExpirationInterval"),
		RenewInterval:        span("leaseRenewInterval"),
		MaxItems:             number("maxItemsPerInvocation"),
		StartFromBeginning:   flag("startFromBeginning"),
	}
	if b.Value("feedPollDelay") != nil && t.FeedPollDelay == 0 {
		t.FeedPollDelay = -1
	}
	t.LeaseConnection = or("leaseConnection", t.Connection)
	t.LeaseDatabase = or("leaseDatabaseName", t.Database)
	if at, err := time.Parse(time.RFC3339, b.String("startFromTime")); err == nil {
		t.StartTime = at
	}
	return t
}
