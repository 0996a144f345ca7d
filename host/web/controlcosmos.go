package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// cosmosRoutes are the routes of the embedded Cosmos DB account. Containers are
// named by a query parameter, "database/container".
func (s *Server) cosmosRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("GET", "/cosmos", s.listCosmos)
	handle("PUT", "/cosmos/container", s.createCosmos)
	handle("POST", "/cosmos/documents", s.writeCosmos)
	handle("GET", "/cosmos/documents", s.readCosmos)
	handle("DELETE", "/cosmos/documents", s.deleteCosmos)
}

// CosmosContainer is a container of the embedded Cosmos DB account.
type CosmosContainer struct {
	Path         string `json:"path"` // "shop/orders"
	PartitionKey string `json:"partitionKey"`
	Ranges       int    `json:"ranges"`
	Documents    int    `json:"documents"`
}

func (s *Server) listCosmos(w http.ResponseWriter, r *http.Request) {
	list := struct {
		Cosmos []CosmosContainer `json:"cosmos"`
	}{[]CosmosContainer{}}
	err := s.inside("list cosmos", func(ctx context.Context) error {
		containers, err := s.host.Cosmos().Containers(ctx)
		for _, c := range containers {
			list.Cosmos = append(list.Cosmos, CosmosContainer{c.Database + "/" + c.Name, c.PartitionKey, c.Ranges, c.Items})
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

// cosmosSpec reads which container a request is about, and how it is to be made.
func cosmosSpec(w http.ResponseWriter, r *http.Request) (spec bindings.CosmosContainerSpec, ok bool) {
	query := r.URL.Query()
	spec.Database, spec.Name, _ = strings.Cut(query.Get("container"), "/")
	spec.PartitionKey = query.Get("partitionKey")
	if text := query.Get("ranges"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			writeError(w, http.StatusBadRequest, "ranges must be a number of 1 or more", "")
			return spec, false
		}
		spec.Ranges = n
	}
	return spec, true
}

func (s *Server) createCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	var out CosmosContainer
	err := s.inside("create container", func(ctx context.Context) error {
		c, err := s.host.Cosmos().CreateContainer(ctx, spec)
		if err == nil {
			info := c.Info()
			out = CosmosContainer{Path: info.Database + "/" + info.Name, PartitionKey: info.PartitionKey, Ranges: info.Ranges}
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

// CosmosWritten says what was created or replaced.
type CosmosWritten struct {
	Path  string   `json:"path"`
	IDs   []string `json:"ids"`
	ETags []string `json:"etags"`
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
		c, err := s.host.Cosmos().Container(ctx, spec.Database, spec.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			c, err = s.host.Cosmos().CreateContainer(ctx, spec)
		}
		if err != nil {
			return err
		}
		for _, text := range documents {
			items, err := c.Upsert(ctx, text)
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

// CosmosDocuments are the documents of a container: of a lease container, the
// checkpoints of functions.
type CosmosDocuments struct {
	Path      string            `json:"path"`
	Documents []json.RawMessage `json:"documents"`
}

func (s *Server) readCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	out := CosmosDocuments{Path: spec.Database + "/" + spec.Name, Documents: []json.RawMessage{}}
	err := s.inside("read "+out.Path, func(ctx context.Context) error {
		c, err := s.host.Cosmos().Container(ctx, spec.Database, spec.Name)
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, r.URL.Query().Get("prefix"))
		for _, item := range items {
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

// deleteCosmos removes the documents with an identifier, whatever their partition
// key.
func (s *Server) deleteCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	id := r.URL.Query().Get("id")
	err := s.inside("delete "+id, func(ctx context.Context) error {
		c, err := s.host.Cosmos().Container(ctx, spec.Database, spec.Name)
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, id)
		found := false
		for _, item := range items {
			if item.ID == id && err == nil {
				found = true
				err = c.Delete(ctx, id, item.Key, "")
			}
		}
		if err == nil && !found {
			return c.Delete(ctx, id, "", "") // says that it is missing
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// cosmosError answers with what the account had to say.
func cosmosError(w http.ResponseWriter, err error) {
	status, hint := http.StatusInternalServerError, ""
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, bindings.ErrAlreadyExists), errors.Is(err, bindings.ErrConditionNotMet):
		status = http.StatusConflict
	case errors.Is(err, bindings.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, bindings.ErrInvalidName):
		status, hint = http.StatusBadRequest, "a container is named DATABASE/CONTAINER"
	case errors.Is(err, bindings.ErrInvalidArgument):
		status = http.StatusBadRequest
	case errors.Is(err, bindings.ErrUnavailable):
		status = http.StatusServiceUnavailable
	}
	writeError(w, status, err.Error(), hint)
}
