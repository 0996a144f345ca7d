package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/web/api"
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
	leases := s.cosmosLeases(ctx)
	for _, c := range containers {
		info := control.CosmosContainer{Path: c.Database + "/" + c.Name, PartitionKey: c.PartitionKey, Documents: c.Items}
		info.Ranges, err = s.host.Services().Cosmos().Ranges(ctx, c.Database, c.Name)
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
func (s *Server) cosmosLeases(ctx context.Context) (list []cosmosdb.Leases) {
	for _, h := range s.apps() {
		for _, l := range cosmosdb.LeasesOf(ctx, h.Env(), h.App()) {
			for i, name := range l.Functions {
				l.Functions[i] = qualified(h, name)
			}
			list = append(list, l)
		}
	}
	return list
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
	out = control.CosmosContainer{Path: info.Database + "/" + info.Name, PartitionKey: info.PartitionKey}
	out.Ranges, err = s.host.Services().Cosmos().Ranges(ctx, info.Database, info.Name)
	return out, err
}

func (s *Server) deleteContainer(ctx context.Context, in control.DeleteContainer) (api.None, error) {
	spec := specOf(control.NewContainer{Container: in.Container})
	return api.None{}, s.host.Services().Cosmos().DeleteContainer(ctx, spec.Database, spec.Name)
}

// writeDocuments creates or replaces the document in the body, or those in an array,
// one after the other. A container that does not exist is made.
func (s *Server) writeDocuments(ctx context.Context, in control.WriteDocuments) (out control.CosmosWritten, err error) {
	documents := []json.RawMessage{in.Body}
	if bytes.HasPrefix(bytes.TrimSpace(in.Body), []byte("[")) {
		if err := json.Unmarshal(in.Body, &documents); err != nil {
			return out, refuse(http.StatusBadRequest, "the body is not a JSON array: "+err.Error(), "")
		}
	}
	spec := specOf(in.NewContainer)
	out = control.CosmosWritten{Path: spec.Database + "/" + spec.Name, IDs: []string{}, ETags: []string{}}
	c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if errors.Is(err, bindings.ErrNotFound) {
		if !in.Create {
			if err := s.refuseSlip(ctx, "cosmos", in.Container); err != nil {
				return out, err
			}
		}
		c, err = s.host.Services().Cosmos().CreateContainer(ctx, spec)
		out.Created = err == nil
	}
	if err == nil {
		err = sameContainer(spec, c.Info())
	}
	if err != nil {
		return out, err
	}
	for i, text := range documents {
		items, err := c.Upsert(ctx, text)
		if err != nil && len(documents) > 1 {
			err = fmt.Errorf("%d of %d documents were written: %w", i, len(documents), err)
		}
		if err != nil {
			return out, err
		}
		out.IDs, out.ETags = append(out.IDs, items[0].ID), append(out.ETags, items[0].ETag)
	}
	return out, nil
}

func (s *Server) readDocuments(ctx context.Context, in control.ReadDocuments) (control.CosmosDocuments, error) {
	out := control.CosmosDocuments{Path: in.Container, Documents: []json.RawMessage{}}
	spec := specOf(control.NewContainer{Container: in.Container})
	c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if err != nil {
		return out, err
	}
	items, err := c.Items(ctx, cmp.Or(in.ID, in.Prefix))
	if in.ID != "" {
		items = slices.DeleteFunc(items, func(item *cosmos.Item) bool { return item.ID != in.ID })
		if err == nil && len(items) == 0 {
			return out, fmt.Errorf("document %q: %w", in.ID, bindings.ErrNotFound)
		}
	}
	out.Count = len(items)
	if in.Max > 0 {
		items = items[:min(in.Max, len(items))]
	}
	for _, item := range items {
		out.Documents = append(out.Documents, item.Body)
	}
	return out, err
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

func (s *Server) purgeDocuments(ctx context.Context, in control.PurgeDocuments) (control.Purged, error) {
	out := control.Purged{Path: in.Container}
	spec := specOf(control.NewContainer{Container: in.Container})
	if in.ID == nil {
		var err error
		out.Removed, err = s.host.Services().Cosmos().Purge(ctx, spec.Database, spec.Name)
		return out, err
	}
	c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if err != nil {
		return out, err
	}
	items, err := c.Items(ctx, *in.ID)
	for _, item := range items {
		if item.ID == *in.ID && err == nil {
			out.Removed++
			err = c.Delete(ctx, item.ID, item.Key, "")
		}
	}
	if err == nil && out.Removed == 0 {
		err = c.Delete(ctx, *in.ID, "", "") // says that it is missing
	}
	return out, err
}
