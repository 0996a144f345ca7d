package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
)

// CosmosLeases is how far the functions have come that share the leases of one
// prefix for one container of the embedded Cosmos DB account.
type CosmosLeases struct {
	Database, Container           string // whose feed it is
	LeaseDatabase, LeaseContainer string
	Prefix                        string
	Functions                     []string // of the running app, by name
	Leases                        []CosmosLease

	// Err says why there are no leases: a container is missing, or is none for
	// leases.
	Err error
}

// CosmosLease is the lease of one range.
type CosmosLease struct {
	Range        string
	Owner        string // as the document has it; empty: nobody
	Function     string // that Owner is, if it is one of this host
	Continuation string // with its quotes; empty: none yet
	Changed      time.Time
	Pending      int // documents that the feed shows from there on; -1: not known

	// Err says why the lease or its position cannot be used.
	Err error
}

// CosmosLeases lists the leases of the running app's functions, sorted by container,
// lease container and prefix. Call it inside the clock.
func (h *Host) CosmosLeases(ctx context.Context) []CosmosLeases {
	a := h.App()
	if a == nil {
		return nil
	}
	var out []CosmosLeases
	for _, f := range a.Functions {
		if f.Trigger == nil || !f.Trigger.Is("cosmosDBTrigger") || f.InError() {
			continue
		}
		t := f.Trigger.CosmosTrigger()
		i := slices.IndexFunc(out, func(l CosmosLeases) bool { return l.holds(&t) })
		if i < 0 {
			i = len(out)
			out = append(out, CosmosLeases{
				Database: t.Database, Container: t.Container,
				LeaseDatabase: t.LeaseDatabase, LeaseContainer: t.LeaseContainer, Prefix: t.LeasePrefix,
			})
		}
		out[i].Functions = append(out[i].Functions, f.Name)
	}
	for i := range out {
		out[i].Leases, out[i].Err = h.readCosmosLeases(ctx, &out[i])
	}
	slices.SortStableFunc(out, func(x, y CosmosLeases) int {
		return cmp.Or(cmp.Compare(x.Database, y.Database), cmp.Compare(x.Container, y.Container),
			cmp.Compare(x.LeaseDatabase, y.LeaseDatabase), cmp.Compare(x.LeaseContainer, y.LeaseContainer), cmp.Compare(x.Prefix, y.Prefix))
	})
	return out
}

func (l *CosmosLeases) holds(t *app.CosmosTrigger) bool {
	return l.Database == t.Database && l.Container == t.Container &&
		l.LeaseDatabase == t.LeaseDatabase && l.LeaseContainer == t.LeaseContainer && l.Prefix == t.LeasePrefix
}

func (h *Host) readCosmosLeases(ctx context.Context, l *CosmosLeases) ([]CosmosLease, error) {
	monitored, err := h.embedded.Cosmos().Container(ctx, l.Database, l.Container)
	if err != nil {
		return nil, err
	}
	in, err := h.embedded.Cosmos().Container(ctx, l.LeaseDatabase, l.LeaseContainer)
	if err != nil {
		return nil, err
	}
	found, err := cosmosdb.Leases(ctx, monitored, h.embedded.Cosmos().AccountHost(), l.Prefix, in)
	if err != nil {
		return nil, err
	}
	var out []CosmosLease
	for _, s := range found {
		lease := CosmosLease{Range: s.Range, Owner: s.Owner, Continuation: s.Continuation, Changed: s.Changed, Pending: -1, Err: s.Err}
		if name, ok := strings.CutPrefix(s.Owner, cosmosOwner(h, "")); ok {
			lease.Function = name
		}
		if s.Continuation != "" {
			n, err := h.embedded.Cosmos().Pending(ctx, l.Database, l.Container, s.Range, cosmos.Position{Continuation: s.Continuation})
			if err == nil {
				lease.Pending = n
			}
			lease.Err = errors.Join(lease.Err, err)
		}
		out = append(out, lease)
	}
	return out, nil
}
