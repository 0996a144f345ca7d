package durabletask

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// entity answers the state of an entity. The key $ is the empty one, here only.
func (q *request) entity(ctx context.Context, name, key string) *answer {
	if key == "$" {
		key = ""
	}
	e, err := q.hub.Entity(ctx, durable.EntityID{Name: strings.ToLower(name), Key: key})
	if err != nil {
		return failed(err)
	}
	return status(http.StatusOK).with(valueOf(e.State))
}

// entityJSON is an entity in a list.
type entityJSON struct {
	EntityID          entityIDJSON    `json:"entityId"`
	LastOperationTime string          `json:"lastOperationTime"`
	State             json.RawMessage `json:"state"`
}

type entityIDJSON struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// listEntities answers a page of the entities of a name, or of all.
func (q *request) listEntities(ctx context.Context, name string) *answer {
	token, err := readToken(q.r.Header.Get(tokenHeader))
	if err != nil {
		return raised(http.StatusBadRequest, badArgument, err.Error(), "System.ArgumentException")
	}
	query := durable.EntityQuery{
		Name: strings.ToLower(name), From: q.time("lastoperationtimefrom"), To: q.time("lastoperationtimeto"),
		State: q.flag("fetchstate", false), Top: q.number("top"), Token: token,
	}
	page, next, err := q.hub.Entities(ctx, query)
	if err != nil {
		return failed(err)
	}
	list := make([]entityJSON, 0, len(page))
	for _, e := range page {
		one := entityJSON{EntityID: entityIDJSON{e.ID.Name, e.ID.Key}, LastOperationTime: instant(e.Modified), State: null}
		if query.State {
			one.State = valueOf(e.State)
		}
		list = append(list, one)
	}
	return q.paged(status(http.StatusOK).with(list), next)
}

// signal sends an entity an operation.
func (q *request) signal(ctx context.Context, e durable.EntityID, operation string) *answer {
	if f := (durable.Function{Kind: durable.EntityFunction, Name: e.Name}); q.missing(f) {
		return refuse(http.StatusBadRequest, q.unknown(f))
	}
	input := ""
	if len(q.body) > 0 {
		kind, _, _ := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
		if kind == "application/json" {
			text, err := parse(q.body)
			if err != nil {
				return refuse(http.StatusBadRequest, "Could not parse JSON content: "+err.Error())
			}
			input = text
		} else {
			text, err := json.Marshal(string(q.body))
			if err != nil { // a string always marshals
				panic(err)
			}
			input = string(text)
		}
	}
	return accepted(q.hub.Signal(ctx, e, operation, input, time.Time{}, q.by()))
}
