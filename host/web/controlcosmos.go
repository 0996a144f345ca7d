package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
)

// cosmosRoutes are the routes of the embedded Cosmos DB account. Containers are
// named by a query parameter, "database/container".
func (s *Server) cosmosRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("GET", "/cosmos", s.listCosmos)
	handle("PUT", "/cosmos/container", s.createCosmos)
	handle("DELETE", "/cosmos/container", s.dropCosmos)
	handle("POST", "/cosmos/documents", s.writeCosmos)
	handle("GET", "/cosmos/documents", s.readCosmos)
	handle("DELETE", "/cosmos/documents", s.deleteCosmos)
}

// CosmosContainer is a container of the embedded Cosmos DB account.
type CosmosContainer struct {
	Path         string         `json:"path"` // "shop/orders"
	PartitionKey string         `json:"partitionKey"`
	Documents    int            `json:"documents"`
	Ranges       []CosmosRange  `json:"ranges"`
	Leases       []CosmosLeases `json:"leases,omitempty"` // of functions that watch the container
}

// CosmosRange is a range of a container.
type CosmosRange struct {
	ID        string `json:"id"`
	Documents int    `json:"documents"`
}

// CosmosLeases is how far functions that share their leases have read a container.
type CosmosLeases struct {
	Container string        `json:"container"` // of the leases: "shop/leases"
	Prefix    string        `json:"prefix,omitempty"`
	Functions []string      `json:"functions"`
	Ranges    []CosmosLease `json:"ranges"`
	Error     string        `json:"error,omitempty"` // why there are none
}

// CosmosLease is the lease of one range.
type CosmosLease struct {
	Range        string     `json:"range"`
	Owner        string     `json:"owner,omitempty"`    // as the lease has it
	Function     string     `json:"function,omitempty"` // that the owner is, if it is one of this host
	Continuation string     `json:"continuation,omitempty"`
	Changed      *time.Time `json:"changed,omitempty"`
	Pending      *int       `json:"pending"`         // changes after the continuation; null: not known
	Error        string     `json:"error,omitempty"` // why the lease cannot be used
}

func (s *Server) listCosmos(w http.ResponseWriter, r *http.Request) {
	var list struct {
		Cosmos []CosmosContainer `json:"cosmos"`
	}
	err := s.inside("list cosmos", func(ctx context.Context) (err error) {
		list.Cosmos, err = s.cosmosContainers(ctx)
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

// cosmosContainers lists the containers with the leases of the app's functions. A
// container that such a function watches and that is missing is not in it.
func (s *Server) cosmosContainers(ctx context.Context) ([]CosmosContainer, error) {
	out := []CosmosContainer{}
	containers, err := s.host.Services().Cosmos().Containers(ctx)
	if err != nil || len(containers) == 0 {
		return out, err
	}
	leases := cosmosdb.LeasesOf(ctx, s.host.Env(), s.host.App())
	for _, c := range containers {
		info := CosmosContainer{Path: c.Database + "/" + c.Name, PartitionKey: c.PartitionKey, Documents: c.Items}
		ranges, err := s.host.Services().Cosmos().Ranges(ctx, c.Database, c.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			info.Ranges = append(info.Ranges, CosmosRange{r.ID, r.Items})
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

func cosmosLeases(l *cosmosdb.Leases) CosmosLeases {
	out := CosmosLeases{Container: l.LeaseDatabase + "/" + l.LeaseContainer, Prefix: l.Prefix, Functions: l.Functions, Ranges: []CosmosLease{}}
	if l.Err != nil {
		out.Error = l.Err.Error()
	}
	for _, r := range l.Leases {
		lease := CosmosLease{Range: r.Range, Owner: r.Owner, Function: r.Function, Continuation: r.Continuation}
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

// cosmosSpec reads which container a request is about, and how it is to be made.
func cosmosSpec(w http.ResponseWriter, r *http.Request) (spec cosmos.ContainerSpec, ok bool) {
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
		c, err := s.host.Services().Cosmos().CreateContainer(ctx, spec)
		if err == nil {
			info := c.Info()
			out = CosmosContainer{Path: info.Database + "/" + info.Name, PartitionKey: info.PartitionKey, Ranges: []CosmosRange{}}
			var ranges []cosmos.Range
			ranges, err = c.Ranges(ctx)
			for _, r := range ranges {
				out.Ranges = append(out.Ranges, CosmosRange{ID: r.ID})
			}
		}
		return err
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

func (s *Server) dropCosmos(w http.ResponseWriter, r *http.Request) {
	spec, ok := cosmosSpec(w, r)
	if !ok {
		return
	}
	err := s.inside("remove container", func(ctx context.Context) error {
		return s.host.Services().Cosmos().DeleteContainer(ctx, spec.Database, spec.Name)
	})
	if err != nil {
		cosmosError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// cosmosError answers with what the account had to say.
func cosmosError(w http.ResponseWriter, err error) {
	if noRoom(w, err) {
		return
	}
	status, hint := http.StatusInternalServerError, ""
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		status, hint = http.StatusNotFound, `"redeliver ls cosmos" lists the containers; case counts in names`
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
