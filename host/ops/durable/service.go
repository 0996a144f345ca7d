// Package durable has the operations on Durable Functions: instances of orchestrators, and
// entities. They ask the task hub of the app, or another one of this host by its name, as the
// HTTP API of package durabletask does for clients.
//
// Read service.go first, then orchestrations.go; entities.go has the entities.
package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// mostListed is how many instances and entities a list has.
const mostListed = 256

// Service are the orchestrations.
var Service = &ops.Service{ // read only
	Name: "orchestration", Path: "orchestrations", Noun: "orchestration", Refuse: refusal,
	List: func(ctx context.Context, e *ops.Env) (any, error) {
		if e.Host.Durable().Hub("") == nil {
			return nil, nil
		}
		list, err := ListOrchestrations{}.Do(ctx, e)
		return list.Orchestrations, err
	},
	Listings: []ops.Listing{{
		Name: "orchestrations", Columns: []string{"ORCHESTRATION", "FUNCTION", "STATUS", "AGE", "WAITS FOR", "CUSTOM STATUS", "FINDINGS"}, Quiet: true,
		Rows: ops.Rows(func(o *Orchestration) [][]string {
			return [][]string{{o.ID, o.Name, o.Status, o.Age, dash(strings.Join(o.Waits, ", ")), dash(o.CustomStatus), dash(strings.Join(o.Findings, ", "))}}
		}),
	}},
	Due: due,
}

// EntityService are the entities.
var EntityService = &ops.Service{ // read only
	Name: "entity", Path: "entities", Noun: "durable entity", Refuse: refusal,
	List: func(ctx context.Context, e *ops.Env) (any, error) {
		if e.Host.Durable().Hub("") == nil {
			return nil, nil
		}
		list, err := ListDurableEntities{}.Do(ctx, e)
		return list.Entities, err
	},
	Listings: []ops.Listing{{
		Name: "entities", Columns: []string{"ENTITY", "LOCKED BY", "STATE BYTES", "QUEUE"}, Numbers: 2, Quiet: true,
		Rows: ops.Rows(func(i *DurableEntity) [][]string {
			return [][]string{{i.ID, dash(i.LockedBy), strconv.Itoa(len(i.State)), strconv.Itoa(i.Queue)}}
		}),
	}},
}

// Operations are those on orchestrations.
func Operations() []ops.Deed {
	return []ops.Deed{
		ops.Of(ListOrchestrations{}), ops.Of(StartOrchestration{}), ops.Of(PurgeOrchestrations{}), ops.Of(ShowOrchestration{}),
		ops.Of(RaiseEvent{}), ops.Of(ControlOrchestration{}), ops.Of(RestartOrchestration{}),
	}
}

// EntityOperations are those on entities.
func EntityOperations() []ops.Deed {
	return []ops.Deed{ops.Of(ListDurableEntities{}), ops.Of(SignalEntity{})}
}

// hub is a task hub of the host; "" is the app's own. A name that no hub has is refused: what
// is put into such a hub waits for ever.
func hub(e *ops.Env, name string) (durable.Hub, error) {
	h := e.Host.Durable().Hub(name)
	if h == nil {
		return nil, ops.Refuse(http.StatusConflict, "the app has no Durable Functions", "an orchestrator, an activity, an entity or a durableClient makes a task hub")
	}
	names, known := e.Host.Durable().Hubs()
	if name == "" || !known || slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) }) {
		return h, nil
	}
	hint := "there is " + strings.Join(names, ", ")
	if near := schemas.Meant(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, ops.Refuse(http.StatusNotFound, fmt.Sprintf("there is no task hub %q", name), hint)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// waits are what an instance waits for, in words: at most five, with the number of others.
func waits(i *durable.Instance, now time.Time) (list []string) {
	const most = 5
	for _, o := range i.Open {
		list = append(list, Waits(o, now))
	}
	if more := len(list) - most; more > 0 {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("%d more", more))
	}
	return list
}

// Waits says what an instance waits for: "timer #5 in 10d", "event ok", "Charge #4", "child x".
func Waits(o durable.Open, now time.Time) string {
	switch o.What {
	case "event":
		return "event " + o.Name
	case "child":
		return "child " + o.Name
	case "call":
		return "answer of " + o.Name
	case "timer":
		if o.Due.After(now) {
			return fmt.Sprintf("timer #%d in %s", o.Number, explain.Roughly(o.Due.Sub(now)))
		}
		return fmt.Sprintf("timer #%d", o.Number)
	}
	return fmt.Sprintf("%s #%d", o.Name, o.Number)
}

// due are the timers of instances.
func due(ctx context.Context, e *ops.Env) (items []ops.DueItem, more int, err error) {
	h := e.Host.Durable().Hub("")
	if h == nil {
		return nil, 0, nil
	}
	err = each(ctx, h, durable.Query{Statuses: []durable.Status{durable.Running, durable.Pending, durable.Suspended}}, func(i *durable.Instance) bool {
		for _, o := range i.Open {
			if o.What != "timer" {
				continue
			}
			if len(items) == ops.MostDue {
				more++
				continue
			}
			items = append(items, ops.DueItem{
				At: o.Due, Kind: "durable", Function: i.Name, MessageID: i.ID, Service: "orchestration", Entity: h.Name(),
				Text: fmt.Sprintf("timer #%d of %s", o.Number, i.ID),
			})
		}
		return true
	})
	return items, more, err
}

// each visits the instances that a query asks for, a page at a time, until visit returns false.
func each(ctx context.Context, h durable.Hub, q durable.Query, visit func(*durable.Instance) bool) error {
	for {
		page, token, err := h.Instances(ctx, q)
		if err != nil {
			return err
		}
		for _, i := range page {
			if !visit(i) {
				return nil
			}
		}
		if q.Token = token; token == "" {
			return nil
		}
	}
}

// refusal is what a caller is told of an error of a hub.
func refusal(err error) *ops.Error {
	var known *durable.Error
	if !errors.As(err, &known) {
		return ops.Refuse(http.StatusInternalServerError, err.Error(), "")
	}
	text := known.Text
	status, hint := http.StatusConflict, ""
	switch known.Code {
	case durable.CodeNotFound:
		status, hint = http.StatusNotFound, `"redeliver ls orchestrations" lists the instances`
	case durable.CodeFinished:
		status, text, hint = http.StatusGone, "the instance is "+known.Status.String()+": nothing more comes of it", `"restart" starts its orchestration anew`
	case durable.CodeInUse:
		text, hint = "an instance that is "+known.Status.String()+" has this id", "terminate it first, or choose another id"
	case durable.CodeBadID:
		status = http.StatusBadRequest
	case durable.CodeUnknown:
		status, hint = http.StatusNotFound, `"redeliver ls functions" lists the functions`
	}
	return ops.Refuse(status, text, hint)
}

// SameValue compares values as instances and entities are shown with them: as JSON; a text that
// is none stands for itself, and none is null.
func SameValue(a, b string) bool {
	read := func(text string) (v any) {
		if text == "" {
			return nil
		}
		if json.Unmarshal([]byte(text), &v) != nil {
			return text
		}
		return v
	}
	return reflect.DeepEqual(read(a), read(b))
}
