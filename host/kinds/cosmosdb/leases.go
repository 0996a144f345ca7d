package cosmosdb

import (
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

// Leases is how far functions have come that share the leases of one prefix for one
// container of the embedded Cosmos DB account, as the control API shows it.
type Leases struct {
	Of        string   `json:"-"`         // the container whose feed it is: "shop/orders"
	Container string   `json:"container"` // of the leases: "shop/leases"
	Prefix    string   `json:"prefix,omitempty"`
	Functions []string `json:"functions"`
	Ranges    []Lease  `json:"ranges"`
	Error     string   `json:"error,omitempty"` // why there are none
}

// Lease is the lease of one range.
type Lease struct {
	Range        string     `json:"range"`
	Owner        string     `json:"owner,omitempty"`    // as the lease has it
	Function     string     `json:"function,omitempty"` // that the owner is, if it is one of this host
	Continuation string     `json:"continuation,omitempty"`
	Changed      *time.Time `json:"changed,omitempty"`
	Pending      *int       `json:"pending"`         // changes after the continuation; null: not known
	Error        string     `json:"error,omitempty"` // why the lease cannot be used
}

// LeasesOf lists the leases of the running app's functions, sorted by container,
// lease container and prefix. Call it inside the clock.
func LeasesOf(ctx context.Context, env *kinds.Env, a *app.App) (out []Leases) {
	if a == nil {
		return nil
	}
	for _, f := range a.Functions {
		if !isCosmos(f) || f.InError() {
			continue
		}
		t := f.Trigger.CosmosTrigger()
		of := Leases{Of: t.Database + "/" + t.Container, Container: t.LeaseDatabase + "/" + t.LeaseContainer, Prefix: t.LeasePrefix}
		i := slices.IndexFunc(out, func(l Leases) bool { return slices.Equal(l.key(), of.key()) })
		if i < 0 {
			i = len(out)
			out = append(out, of)
		}
		out[i].Functions = append(out[i].Functions, f.Name)
	}
	for i := range out {
		if err := out[i].read(ctx, env); err != nil {
			out[i].Error = err.Error()
		}
	}
	slices.SortStableFunc(out, func(x, y Leases) int { return slices.Compare(x.key(), y.key()) })
	return out
}

// key is what tells leases apart, name by name.
func (l *Leases) key() []string { return strings.SplitN(l.Of+"/"+l.Container+"/"+l.Prefix, "/", 5) }

func (l *Leases) read(ctx context.Context, env *kinds.Env) error {
	l.Ranges = []Lease{}
	names, account := l.key(), env.Embedded.Cosmos()
	monitored, err := account.Container(ctx, names[0], names[1])
	if err != nil {
		return err
	}
	in, err := account.Container(ctx, names[2], names[3])
	if err != nil {
		return err
	}
	found, err := trigger.Leases(ctx, monitored, account.AccountHost(), l.Prefix, in)
	for _, s := range found {
		lease, err := Lease{Range: s.Range, Owner: s.Owner, Continuation: s.Continuation}, s.Err
		if !s.Changed.IsZero() {
			lease.Changed = &s.Changed
		}
		if name, ok := strings.CutPrefix(s.Owner, ownerOf(env, "")); ok {
			lease.Function = name
		}
		if s.Continuation != "" {
			n, unknown := account.Pending(ctx, names[0], names[1], s.Range, cosmos.Position{Continuation: s.Continuation})
			if err = errors.Join(err, unknown); unknown == nil {
				lease.Pending = &n
			}
		}
		if err != nil {
			lease.Error = err.Error()
		}
		l.Ranges = append(l.Ranges, lease)
	}
	return err
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
