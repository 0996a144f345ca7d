package cosmos

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/ops"
)

// containers lists the containers with the leases of the app's functions. A
// container that such a function watches and that is missing is not in it.
func containers(ctx context.Context, e *ops.Env) ([]CosmosContainer, error) {
	out := []CosmosContainer{}
	containers, err := e.Host.Services().Cosmos().Containers(ctx)
	if err != nil || len(containers) == 0 {
		return out, err
	}
	leases := cosmosLeases(ctx, e)
	for _, c := range containers {
		info := CosmosContainer{Path: c.Database + "/" + c.Name, PartitionKey: c.PartitionKey, Documents: c.Items}
		info.Ranges, err = e.Host.Services().Cosmos().Ranges(ctx, c.Database, c.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		for _, l := range leases {
			if l.Of == info.Path {
				info.Leases = append(info.Leases, l)
			}
		}
		out = append(out, info)
	}
	return out, nil
}

// cosmosLeases are the leases of the functions of all apps.
func cosmosLeases(ctx context.Context, e *ops.Env) (list []cosmosdb.Leases) {
	for _, h := range e.Apps() {
		for _, l := range cosmosdb.LeasesOf(ctx, h.Env(), h.App()) {
			for i, name := range l.Functions {
				l.Functions[i] = ops.Qualified(h, name)
			}
			list = append(list, l)
		}
	}
	return list
}

// specOf is the container that an operation is about, and how it is to be made.
func specOf(in NewContainer) cosmos.ContainerSpec {
	database, name, _ := strings.Cut(in.Container, "/")
	return cosmos.ContainerSpec{Database: database, Name: name, PartitionKey: in.PartitionKey, Ranges: in.Ranges}
}

// sameContainer refuses to write to a container that is not as the request would
// have made it.
func sameContainer(want cosmos.ContainerSpec, is cosmos.ContainerInfo) error {
	if want.PartitionKey != "" && want.PartitionKey != is.PartitionKey {
		return fmt.Errorf("container %q of database %q: %w: its partition key is %s", is.Name, is.Database, bindings.ErrInvalidArgument, is.PartitionKey)
	}
	if want.Ranges != 0 && want.Ranges != is.Ranges {
		return fmt.Errorf("container %q of database %q: %w: it has %d ranges", is.Name, is.Database, bindings.ErrInvalidArgument, is.Ranges)
	}
	return nil
}
