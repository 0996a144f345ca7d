package cosmosdb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/cosmos"

	trigger "github.com/redeliver/redeliver/triggers/cosmosdb"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
)

// Leases is how far the functions have come that share the leases of one
// prefix for one container of the embedded Cosmos DB account.
type Leases struct {
	Database, Container           string // whose feed it is
	LeaseDatabase, LeaseContainer string
	Prefix                        string
	Functions                     []string // of the running app, by name
	Leases                        []Lease

	// Err says why there are no leases: a container is missing, or does not fit
	// for leases.
	Err error
}

// Lease is the lease of one range.
type Lease struct {
	Range        string
	Owner        string // as the document has it; empty: no owner
	Function     string // that Owner is, if it is one of this host
	Continuation string // with its quotes; empty: none yet
	Changed      time.Time
	Pending      int // documents that the feed shows from there on; -1: not known

	// Err says why the lease or its position cannot be used.
	Err error
}

// Leases lists the leases of the running app's functions, sorted by container,
// lease container and prefix. Call it inside the clock.
func LeasesOf(ctx context.Context, env *kinds.Env, a *app.App) []Leases {
	if a == nil {
		return nil
	}
	var out []Leases
	for _, f := range a.Functions {
		if !isCosmos(f) || f.InError() {
			continue
		}
		t := f.Trigger.CosmosTrigger()
		i := slices.IndexFunc(out, func(l Leases) bool { return l.holds(&t) })
		if i < 0 {
			i = len(out)
			out = append(out, Leases{
				Database: t.Database, Container: t.Container,
				LeaseDatabase: t.LeaseDatabase, LeaseContainer: t.LeaseContainer, Prefix: t.LeasePrefix,
			})
		}
		out[i].Functions = append(out[i].Functions, f.Name)
	}
	for i := range out {
		out[i].Leases, out[i].Err = read(ctx, env, &out[i])
	}
	slices.SortStableFunc(out, func(x, y Leases) int {
		return cmp.Or(cmp.Compare(x.Database, y.Database), cmp.Compare(x.Container, y.Container),
			cmp.Compare(x.LeaseDatabase, y.LeaseDatabase), cmp.Compare(x.LeaseContainer, y.LeaseContainer), cmp.Compare(x.Prefix, y.Prefix))
	})
	return out
}

func (l *Leases) holds(t *app.CosmosTrigger) bool {
	return l.Database == t.Database && l.Container == t.Container &&
		l.LeaseDatabase == t.LeaseDatabase && l.LeaseContainer == t.LeaseContainer && l.Prefix == t.LeasePrefix
}

func read(ctx context.Context, env *kinds.Env, l *Leases) ([]Lease, error) {
	monitored, err := env.Embedded.Cosmos().Container(ctx, l.Database, l.Container)
	if err != nil {
		return nil, err
	}
	in, err := env.Embedded.Cosmos().Container(ctx, l.LeaseDatabase, l.LeaseContainer)
	if err != nil {
		return nil, err
	}
	found, err := trigger.Leases(ctx, monitored, env.Embedded.Cosmos().AccountHost(), l.Prefix, in)
	if err != nil {
		return nil, err
	}
	var out []Lease
	for _, s := range found {
		lease := Lease{Range: s.Range, Owner: s.Owner, Continuation: s.Continuation, Changed: s.Changed, Pending: -1, Err: s.Err}
		if name, ok := strings.CutPrefix(s.Owner, ownerOf(env, "")); ok {
			lease.Function = name
		}
		if s.Continuation != "" {
			n, err := env.Embedded.Cosmos().Pending(ctx, l.Database, l.Container, s.Range, cosmos.Position{Continuation: s.Continuation})
			if err == nil {
				lease.Pending = n
			}
			lease.Err = errors.Join(lease.Err, err)
		}
		out = append(out, lease)
	}
	return out, nil
}

func isCosmos(f *app.Function) bool { return f.Trigger != nil && f.Trigger.Is("cosmosDBTrigger") }

// HoldsLeases returns whether a container holds the leases of one of the functions.
func HoldsLeases(functions []*kinds.Function) func(database, container string) bool {
	leases := map[[2]string]bool{}
	for _, f := range functions {
		if isCosmos(f.Def) {
			t := f.Def.Trigger.CosmosTrigger()
			leases[[2]string{t.LeaseDatabase, t.LeaseContainer}] = true
		}
	}
	return func(database, container string) bool { return leases[[2]string{database, container}] }
}
