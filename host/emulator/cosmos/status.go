package cosmos

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// ContainerStatus is a container and how much it holds.
type ContainerStatus struct {
	cosmos.ContainerInfo
	Items int
}

// Containers lists the containers, sorted by database and name.
func (a *Account) Containers(ctx context.Context) ([]ContainerStatus, error) {
	var out []ContainerStatus
	err := a.operate(ctx, FaultPoint{Op: "Containers"}, func(*operation) error {
		for _, c := range a.state.containers {
			out = append(out, ContainerStatus{c.info, len(c.items)})
		}
		return nil
	})
	slices.SortFunc(out, func(x, y ContainerStatus) int {
		return cmp.Or(cmp.Compare(x.Database, y.Database), cmp.Compare(x.Name, y.Name))
	})
	return out, err
}

// RangeStatus is a range and how many documents it holds.
type RangeStatus struct {
	ID    string `json:"id"`
	Items int    `json:"documents"`
}

// Ranges lists the ranges of a container in their order, ErrNotFound if there is no
// such container.
func (a *Account) Ranges(ctx context.Context, database, name string) (out []RangeStatus, err error) {
	err = a.inspect(ctx, "Ranges", database, name, func(_ *operation, c *container) error {
		for _, r := range c.ranges {
			out = append(out, RangeStatus{r.ID, r.live(0)})
		}
		return nil
	})
	return out, err
}

// Pending is the number of documents that the feed of a range still shows from a
// position on. It fails like CosmosContainer.Changes.
func (a *Account) Pending(ctx context.Context, database, name, rangeID string, from cosmos.Position) (n int, err error) {
	err = a.inspect(ctx, "Pending", database, name, func(_ *operation, c *container) error {
		r, err := c.byID(rangeID)
		if err != nil {
			return err
		}
		i, err := r.start(from)
		if err == nil {
			n = r.live(i)
		}
		return err
	})
	return n, err
}

// Purge removes the documents of a container and says how many there were. Feeds do
// not show that; their positions go on.
func (a *Account) Purge(ctx context.Context, database, name string) (removed int, err error) {
	err = a.inspect(ctx, "Purge", database, name, func(op *operation, c *container) error {
		removed = len(c.items)
		c.empty(op)
		return nil
	})
	return removed, err
}

// inspect runs f on a container of that name.
func (a *Account) inspect(ctx context.Context, op, database, name string, f func(op *operation, c *container) error) error {
	path := pathOf(database, name)
	return a.operate(ctx, FaultPoint{Op: op, Container: path}, func(op *operation) error {
		c := a.state.containers[path]
		if c == nil {
			return fmt.Errorf("container %q of database %q: %w", name, database, bindings.ErrNotFound)
		}
		return f(op, c)
	})
}
