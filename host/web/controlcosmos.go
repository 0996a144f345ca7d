package web

import (
	"context"
	"errors"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) listContainers(ctx context.Context, _ control.ListContainers) (out control.CosmosContainers, err error) {
	out.Cosmos, err = s.cosmosContainers(ctx)
	return out, err
}

// cosmosContainers lists the containers with the leases of the app's functions. A
// container that such a function watches and that is missing is not in it.
func (s *Server) cosmosContainers(ctx context.Context) ([]control.CosmosContainer, error) {
	out := []control.CosmosContainer{}
	containers, err := s.host.Services().Cosmos().Containers(ctx)
	if err != nil || len(containers) == 0 {
		return out, err
	}
	leases := cosmosdb.LeasesOf(ctx, s.host.Env(), s.host.App())
	for _, c := range containers {
		info := control.CosmosContainer{Path: c.Database + "/" + c.Name, PartitionKey: c.PartitionKey, Documents: c.Items}
		ranges, err := s.host.Services().Cosmos().Ranges(ctx, c.Database, c.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			info.Ranges = append(info.Ranges, control.CosmosRange{ID: r.ID, Documents: r.Items})
		}
		for i := range leases {
			if l := &leases[i]; l.Database == c.Database && l.Container == c.Name {
				info.Leases = append(info.Leases, cosmosLeases(l))
			}
		}
		out = append(out, info)
	}
	return out, nil
}

func cosmosLeases(l *cosmosdb.Leases) control.CosmosLeases {
	out := control.CosmosLeases{Container: l.LeaseDatabase + "/" + l.LeaseContainer, Prefix: l.Prefix, Functions: l.Functions, Ranges: []control.CosmosLease{}}
	if l.Err != nil {
		out.Error = l.Err.Error()
	}
	for _, r := range l.Leases {
		lease := control.CosmosLease{Range: r.Range, Owner: r.Owner, Function: r.Function, Continuation: r.Continuation}
		if !r.Changed.IsZero() {
			lease.Changed = &r.Changed
		}
		if r.Pending >= 0 {
			lease.Pending = &r.Pending
		}
		if r.Err != nil {
			lease.Error = r.Err.Error()
		}
		out.Ranges = append(out.Ranges, lease)
	}
	return out
}

// specOf is the container that an operation is about, and how it is to be made.
func specOf(in control.NewContainer) cosmos.ContainerSpec {
	database, name, _ := strings.Cut(in.Container, "/")
	return cosmos.ContainerSpec{Database: database, Name: name, PartitionKey: in.PartitionKey, Ranges: in.Ranges}
}

func (s *Server) createContainer(ctx context.Context, in control.CreateContainer) (out control.CosmosContainer, err error) {
	c, err := s.host.Services().Cosmos().CreateContainer(ctx, specOf(in.NewContainer))
	if err != nil {
		return out, err
	}
	info := c.Info()
	out = control.CosmosContainer{Path: info.Database + "/" + info.Name, PartitionKey: info.PartitionKey, Ranges: []control.CosmosRange{}}
	ranges, err := c.Ranges(ctx)
	for _, r := range ranges {
		out.Ranges = append(out.Ranges, control.CosmosRange{ID: r.ID})
	}
	return out, err
}

func (s *Server) deleteContainer(ctx context.Context, in control.DeleteContainer) (control.None, error) {
	spec := specOf(control.NewContainer{Container: in.Container})
	return control.None{}, s.host.Services().Cosmos().DeleteContainer(ctx, spec.Database, spec.Name)
}
