package cosmos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	emulator "github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/ops"
)

// ListContainers lists the containers of Cosmos DB.
type ListContainers struct {
	ops.Op[CosmosContainers] `route:"GET /cosmos"`
}

func (ListContainers) Do(ctx context.Context, e *ops.Env) (out CosmosContainers, err error) {
	out.Cosmos, err = containers(ctx, e)
	return out, err
}

// CosmosContainers are the containers of the embedded Cosmos DB account.
type CosmosContainers struct {
	Cosmos []CosmosContainer `json:"cosmos"`
}

// CosmosContainer is a container of the embedded Cosmos DB account.
type CosmosContainer struct {
	Path         string                 `json:"path"` // "shop/orders"
	PartitionKey string                 `json:"partitionKey"`
	Documents    int                    `json:"documents"`
	Ranges       []emulator.RangeStatus `json:"ranges"`
	Leases       []cosmosdb.Leases      `json:"leases,omitempty"` // of functions that watch the container
}

// CreateContainer makes a container of Cosmos DB, and its database; 409 when it is
// there.
type CreateContainer struct {
	ops.Op[CosmosContainer] `route:"PUT /cosmos/container" verb:"create" status:"201"`
	NewContainer
}

func (in CreateContainer) Do(ctx context.Context, e *ops.Env) (out CosmosContainer, err error) {
	c, err := e.Host.Services().Cosmos().CreateContainer(ctx, specOf(in.NewContainer))
	if err != nil {
		return out, err
	}
	info := c.Info()
	out = CosmosContainer{Path: info.Database + "/" + info.Name, PartitionKey: info.PartitionKey}
	out.Ranges, err = e.Host.Services().Cosmos().Ranges(ctx, info.Database, info.Name)
	return out, err
}

// NewContainer names a container, and says how it is made.
type NewContainer struct {
	Container    string `query:"container,required"` // "shop/orders"
	PartitionKey string `query:"partitionKey" usage:"partition key of a container that is made, e.g. /customer (default /id)"`
	Ranges       int    `query:"ranges" min:"1" want:"a number of 1 or more" usage:"number of ranges of a container that is made (default 1)"`
}

// DeleteContainer removes a container with its documents and feeds.
type DeleteContainer struct {
	ops.Op[ops.None] `route:"DELETE /cosmos/container" verb:"delete" status:"204"`

	Container string `query:"container,required"`
}

func (in DeleteContainer) Do(ctx context.Context, e *ops.Env) (ops.None, error) {
	spec := specOf(NewContainer{Container: in.Container})
	return ops.None{}, e.Host.Services().Cosmos().DeleteContainer(ctx, spec.Database, spec.Name)
}

// WriteDocuments creates or replaces the document in the body, or those in an array, one
// after the other. The container is made when it is missing.
type WriteDocuments struct {
	ops.Op[CosmosWritten] `route:"POST /cosmos/documents" verb:"send" status:"201" limit:"67108864"`
	NewContainer
	Create bool   `query:"create" usage:"make the container though its name is near to another one"`
	Body   []byte `body:"raw"`
}

// Do creates or replaces the document in the body, or those in an array,
// one after the other. A container that does not exist is made.
func (in WriteDocuments) Do(ctx context.Context, e *ops.Env) (out CosmosWritten, err error) {
	documents := []json.RawMessage{in.Body}
	if bytes.HasPrefix(bytes.TrimSpace(in.Body), []byte("[")) {
		if err := json.Unmarshal(in.Body, &documents); err != nil {
			return out, ops.Refuse(http.StatusBadRequest, "the body is not a JSON array: "+err.Error(), "")
		}
	}
	spec := specOf(in.NewContainer)
	out = CosmosWritten{Path: spec.Database + "/" + spec.Name, IDs: []string{}, ETags: []string{}}
	c, err := e.Host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if errors.Is(err, bindings.ErrNotFound) {
		if !in.Create {
			if err := e.RefuseSlip(ctx, Service, in.Container); err != nil {
				return out, err
			}
		}
		c, err = e.Host.Services().Cosmos().CreateContainer(ctx, spec)
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

// CosmosWritten says what was created or replaced.
type CosmosWritten struct {
	Path    string   `json:"path"`
	Created bool     `json:"created,omitempty"` // the container, which was missing
	IDs     []string `json:"ids"`
	ETags   []string `json:"etags"`
}

// ReadDocuments shows documents of a container.
type ReadDocuments struct {
	ops.Op[CosmosDocuments] `route:"GET /cosmos/documents" verb:"peek"`

	Container string `query:"container,required"`
	ID        string `query:"id" usage:"show only the documents with this identifier"`
	Prefix    string `query:"prefix" usage:"show only documents whose identifier begins with this"`
	Max       int    `query:"max" min:"1" want:"a number of 1 or more" usage:"show at most this many documents (default all)"`
}

func (in ReadDocuments) Do(ctx context.Context, e *ops.Env) (CosmosDocuments, error) {
	out := CosmosDocuments{Path: in.Container, Documents: []json.RawMessage{}}
	spec := specOf(NewContainer{Container: in.Container})
	c, err := e.Host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
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

// CosmosDocuments are documents of a container, sorted by identifier: of a lease
// container, the checkpoints of functions.
type CosmosDocuments struct {
	Path      string            `json:"path"`
	Count     int               `json:"count"` // that were asked for
	Documents []json.RawMessage `json:"documents"`
}

// PurgeDocuments removes the documents with an identifier, with any partition key,
// or without one all of the container.
type PurgeDocuments struct {
	ops.Op[ops.Purged] `route:"DELETE /cosmos/documents" verb:"purge" step:"purge"`

	Container string  `query:"container,required" step:"cosmos,place"`
	ID        *string `query:"id" usage:"remove only the documents with this identifier"`
}

func (in PurgeDocuments) Do(ctx context.Context, e *ops.Env) (ops.Purged, error) {
	out := ops.Purged{Path: in.Container}
	spec := specOf(NewContainer{Container: in.Container})
	if in.ID == nil {
		var err error
		out.Removed, err = e.Host.Services().Cosmos().Purge(ctx, spec.Database, spec.Name)
		return out, err
	}
	c, err := e.Host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
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
