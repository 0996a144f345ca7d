package app

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// CosmosTrigger is a cosmosDBTrigger as function.json describes it (spec messaging 7).
type CosmosTrigger struct {
	Connection, Database, Container                string
	LeaseConnection, LeaseDatabase, LeaseContainer string
	LeasePrefix                                    string
	CreateLeaseContainer                           bool

	// Zero is the default, as on the platform, also where function.json says 0.
	FeedPollDelay, AcquireInterval, Expiration, RenewInterval time.Duration

	MaxItems           int // 0: the service's default
	StartFromBeginning bool
	StartTime          time.Time // zero: not set
}

// CosmosTrigger reads a binding that was checked. Leases are kept where the
// documents are, in the container "leases", unless something else is said.
func (b *Binding) CosmosTrigger() CosmosTrigger {
	t, _ := b.cosmosTrigger()
	return t
}

// CosmosFaults makes the checks that the schema cannot make: of values from
// settings, and of properties against each other.
//
// Source: CDB: Trigger/CosmosDBTriggerAttributeBindingProvider.cs and
// CosmosDBTriggerListener.cs InitializeBuilder.
func (b *Binding) CosmosFaults() []*schemas.Fault {
	t, faults := b.cosmosTrigger()
	add := func(property, found, allowed, reason string) {
		faults = append(faults, &schemas.Fault{
			Path: b.PathOf(property), Found: found, Allowed: allowed, Reason: reason, Kind: schemas.KindInvalidOperation,
		})
	}
	if t.Database == "" {
		add("databaseName", "", "the name of a database", "is empty")
	}
	if t.Container == "" {
		add("containerName", "", "the name of a container", "is empty")
	}
	if b.String("startFromTime") != "" && t.StartFromBeginning {
		add("startFromTime", b.String("startFromTime"), "startFromTime or startFromBeginning", "startFromBeginning is set too")
	}
	if t.Container != "" && strings.EqualFold(t.Database, t.LeaseDatabase) && strings.EqualFold(t.Container, t.LeaseContainer) {
		property := "leaseContainerName"
		if b.Value(property) == nil {
			property = "containerName"
		}
		add(property, t.Container, "two different containers", "the monitored container cannot be the same as the container storing the leases")
	}
	return faults
}

// cosmosTrigger reads a binding, and reports values that came out of settings and
// cannot be read: the schema has seen only what is written in the file.
func (b *Binding) cosmosTrigger() (t CosmosTrigger, faults []*schemas.Fault) {
	bad := func(property, allowed, reason string, kind schemas.Kind) {
		faults = append(faults, &schemas.Fault{Path: b.PathOf(property), Found: b.String(property), Allowed: allowed, Reason: reason, Kind: kind})
	}
	or := func(name, standard string) string {
		if s := b.String(name); s != "" {
			return s
		}
		return standard
	}
	number := func(name string) int {
		text := strings.TrimSpace(rounded(b.Value(name)))
		if text == "" {
			return 0
		}
		const allowed = "a whole number of 0 or more"
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil:
			bad(name, allowed, "cannot be read as a whole number of 32 bits", schemas.KindJSON)
		case n < 0:
			bad(name, allowed, "out of range", schemas.KindArgumentOutOfRange)
		}
		return max(0, int(n))
	}
	span := func(name string) time.Duration { return time.Duration(number(name)) * time.Millisecond }
	flag := func(name string) bool {
		text := strings.TrimSpace(b.String(name))
		on, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil && text != "" {
			bad(name, "true or false", "cannot be read as true or false", schemas.KindJSON)
		}
		return on
	}
	t = CosmosTrigger{
		Connection:           or("connection", cosmosConnection),
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
	t.LeaseConnection = or("leaseConnection", t.Connection)
	t.LeaseDatabase = or("leaseDatabaseName", t.Database)
	if text := b.String("startFromTime"); text != "" {
		if t.StartTime = document.UTCTime(text); t.StartTime.IsZero() {
			bad("startFromTime", "a time such as 2021-02-16T14:19:29Z", "cannot be read as a time", schemas.KindJSON)
		}
	}
	return t, faults
}

// cosmosConnection is the connection of a trigger or output that names none.
const cosmosConnection = "CosmosDB"

// rounded is the text of a value, a number as .NET rounds it to a whole one; a number in a
// text stays as it is.
func rounded(v any) string {
	text := document.ConfigText(v)
	if _, isNumber := v.(json.Number); isNumber {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(math.RoundToEven(f), 'f', 0, 64)
		}
	}
	return text
}
