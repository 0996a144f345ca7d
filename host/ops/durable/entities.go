package durable

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/ops"
)

// ListDurableEntities lists the entities of Durable Functions by their ids, at most 256.
type ListDurableEntities struct {
	ops.Op[DurableEntityList] `route:"GET /entities"`

	Name string `query:"name"` // only those of this entity function
	Hub  string `query:"hub"`
}

// Do lists them.
func (in ListDurableEntities) Do(ctx context.Context, e *ops.Env) (DurableEntityList, error) {
	out := DurableEntityList{Entities: []DurableEntity{}}
	if e.Host.Durable().Hub("") == nil {
		return out, nil
	}
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	q := durable.EntityQuery{Name: strings.ToLower(in.Name), State: true}
	for {
		page, token, err := h.Entities(ctx, q)
		if err != nil {
			return out, err
		}
		for _, one := range page {
			if len(out.Entities) == mostListed {
				out.More++
				continue
			}
			shown := DurableEntity{ID: one.ID.String(), Modified: one.Modified, Queue: one.Queue, LockedBy: one.LockedBy}
			if one.State != nil {
				shown.State = *one.State
			}
			out.Entities = append(out.Entities, shown)
		}
		if q.Token = token; token == "" {
			return out, nil
		}
	}
}

// DurableEntityList are entities of Durable Functions.
type DurableEntityList struct {
	Entities []DurableEntity `json:"entities"`
	More     int             `json:"more,omitempty"` // so many are not listed
}

// DurableEntity is an entity of Durable Functions.
type DurableEntity struct {
	ID       string    `json:"id"`              // @name@key
	State    string    `json:"state,omitempty"` // JSON
	Modified time.Time `json:"modified"`        // by its last batch of operations
	Queue    int       `json:"queue,omitempty"` // operations that wait
	LockedBy string    `json:"lockedBy,omitempty"`
}

// SignalEntity sends an entity an operation that nobody waits for.
type SignalEntity struct {
	ops.Op[Signalled] `route:"POST /entities/signal" status:"202"`

	Entity    string `query:"entity,required"`    // @name@key
	Operation string `query:"operation,required"` // its name
	Hub       string `query:"hub"`
	Input     []byte `body:"raw"` // JSON
}

// Do sends it.
func (in SignalEntity) Do(ctx context.Context, e *ops.Env) (out Signalled, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	to, ok := durable.ParseEntityID(in.Entity)
	if !ok {
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("%q is not the id of an entity", in.Entity), "an entity is called @name@key, for instance @counter@k1")
	}
	if err := known(e, durable.EntityFunction, "entity function", to.Name); err != nil {
		return out, err
	}
	input, err := jsonOf(in.Input, "the input")
	if err != nil {
		return out, err
	}
	text := ""
	if input != nil {
		text = *input
	}
	return Signalled{to.String(), in.Operation}, h.Signal(ctx, to, in.Operation, text, time.Time{}, "cli")
}

// Signalled says which operation an entity was sent.
type Signalled struct {
	Entity    string `json:"entity"`
	Operation string `json:"operation"`
}
