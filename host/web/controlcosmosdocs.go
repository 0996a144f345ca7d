package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// maxDocuments limits the documents that are written in one request: 64 MiB.
const maxDocuments = 64 << 20

// CosmosWritten says what was created or replaced.
type CosmosWritten struct {
	Path    string   `json:"path"`
	Created bool     `json:"created,omitempty"` // the container, which was missing
	IDs     []string `json:"ids"`
	ETags   []string `json:"etags"`
}

// writeCosmos creates or replaces the document in the body, or those in an array,
// one after the other. A container that does not exist is made.
func (s *Server) writeCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	documents := []json.RawMessage{body}
	if text := strings.TrimSpace(string(body)); strings.HasPrefix(text, "[") {
		if err := json.Unmarshal(body, &documents); err != nil {
			writeError(w, http.StatusBadRequest, "the body is not a JSON array: "+err.Error(), "")
			return
		}
	}
	out := CosmosWritten{Path: spec.Database + "/" + spec.Name, IDs: []string{}, ETags: []string{}}
	err = s.inside("write to "+out.Path, func(ctx context.Context) error {
		c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			c, err = s.host.Services().Cosmos().CreateContainer(ctx, spec)
			out.Created = err == nil
		}
		if err == nil {
			err = sameContainer(spec, c.Info())
		}
		if err != nil {
			return err
		}
		for i, text := range documents {
			items, err := c.Upsert(ctx, text)
			if err != nil && len(documents) > 1 {
				return fmt.Errorf("%d of %d documents were written: %w", i, len(documents), err)
			}
			if err != nil {
				return err
			}
			out.IDs, out.ETags = append(out.IDs, items[0].ID), append(out.ETags, items[0].ETag)
		}
		return nil
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

// CosmosDocuments are documents of a container, sorted by identifier: of a lease
// container, the checkpoints of functions.
type CosmosDocuments struct {
	Path      string            `json:"path"`
	Count     int               `json:"count"` // that were asked for
	Documents []json.RawMessage `json:"documents"`
}

func (s *Server) readCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	most := math.MaxInt
	if text := query.Get("max"); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			writeError(w, http.StatusBadRequest, "max must be a number of 1 or more", "")
			return
		}
	}
	id := query.Get("id")
	out := CosmosDocuments{Path: spec.Database + "/" + spec.Name, Documents: []json.RawMessage{}}
	err := s.inside("read "+out.Path, func(ctx context.Context) error {
		c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, cmp.Or(id, query.Get("prefix")))
		if id != "" {
			items = slices.DeleteFunc(items, func(item *cosmos.Item) bool { return item.ID != id })
			if err == nil && len(items) == 0 {
				return fmt.Errorf("document %q: %w", id, bindings.ErrNotFound)
			}
		}
		out.Count = len(items)
		for _, item := range items[:min(most, len(items))] {
			out.Documents = append(out.Documents, item.Body)
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
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

// CosmosPurged says how many documents were removed.
type CosmosPurged struct {
	Path    string `json:"path"`
	Removed int    `json:"removed"`
}

// deleteCosmos removes the documents with an identifier, whatever their partition
// key, or without one all of the container.
func (s *Server) deleteCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	if !r.URL.Query().Has("id") {
		s.purgeCosmos(w, spec)
		return
	}
	id := r.URL.Query().Get("id")
	out := CosmosPurged{Path: spec.Database + "/" + spec.Name}
	err := s.inside("delete "+id, func(ctx context.Context) error {
		c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, id)
		for _, item := range items {
			if item.ID == id && err == nil {
				out.Removed++
				err = c.Delete(ctx, id, item.Key, "")
			}
		}
		if err == nil && out.Removed == 0 {
			return c.Delete(ctx, id, "", "") // says that it is missing
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) purgeCosmos(w http.ResponseWriter, spec cosmos.ContainerSpec) {
	out := CosmosPurged{Path: spec.Database + "/" + spec.Name}
	err := s.inside("purge "+out.Path, func(ctx context.Context) (err error) {
		out.Removed, err = s.host.Services().Cosmos().Purge(ctx, spec.Database, spec.Name)
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}
