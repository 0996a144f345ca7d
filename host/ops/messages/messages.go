// Package messages has the operations on the messages of all services in one form, as the
// page shows them. What a service can do of it, its [ops.Service] says.
package messages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops"
)

// RunAgain runs what a delivery was about again: its message is sent to its source once
// more, as a new one, and a timer's function is called. 409 when the host does not have
// the body any more.
type RunAgain struct {
	ops.Op[RanAgain] `route:"POST /deliveries/again" body:"json" clock:"own"`

	Delivery string `json:"delivery"`
}

// Do runs what a delivery was about again, by the kind of its trigger.
func (in RunAgain) Do(ctx context.Context, e *ops.Env) (out RanAgain, err error) {
	rec, ok := e.Host.Journal().FindKind(1, journal.Received, func(r *journal.Record) bool { return r.Delivery == in.Delivery })
	if !ok || in.Delivery == "" {
		return out, ops.Refuse(http.StatusNotFound, fmt.Sprintf("the journal has no delivery %q", in.Delivery), "it keeps what happened since the start of the host, up to a limit")
	}
	out = RanAgain{Delivery: rec.Delivery, Function: rec.Function}
	kind := served.Of(rec.Trigger)
	switch {
	case kind == nil:
	case kind.Keeper != "":
		k, err := e.Keeper(kind.Keeper)
		if err != nil {
			return out, err
		}
		if k.Again == nil {
			break
		}
		out.Service, out.Entity = kind.Keeper, rec.Source
		err = e.Inside("RunAgain", func(ctx context.Context) (err error) {
			out.NewID, err = k.Again(ctx, e, rec.Source, rec.MessageID)
			return err
		})
		return out, k.Told(err)
	case kind.Scheduled:
		if h := e.AppOf(rec.Function); h != nil {
			return out, h.InvokeAsync(ctx, rec.OwnFunction(), "")
		}
		return out, e.NoSuch("function", rec.Function, e.FunctionNames())
	}
	return out, ops.Refuse(http.StatusConflict, fmt.Sprintf("delivery %s cannot run again: the host does not keep what it brought", rec.Delivery),
		fmt.Sprintf("\"redeliver invoke %s BODY\" calls the function with a body", rec.Function))
}

// RanAgain says what was done to run a delivery again.
type RanAgain struct {
	Delivery string `json:"delivery"`
	Function string `json:"function"`
	Service  string `json:"service,omitempty"`
	Entity   string `json:"entity,omitempty"`
	NewID    string `json:"newId,omitempty"` // of the new message
}

// ListMessages shows messages of any state that an entity holds, in the order of the
// service. Nothing changes. Service is queue, servicebus, eventgrid, eventhub, cosmos or
// blob; an entity is a queue, a path of Service Bus such as orders/$DeadLetterQueue, a
// topic of Event Grid or TOPIC/SUBSCRIPTION, a hub, DATABASE/CONTAINER, a container.
type ListMessages struct {
	ops.Op[Messages] `route:"GET /messages"`

	Service string `query:"service,required"`
	Entity  string `query:"entity,required"`
	Search  string `query:"search"` // a part of an identity, of a body that is text, or of a property, whatever the case
	States  string `query:"states"` // only these, with commas: see ShownMessage
	Limit   int    `query:"limit" min:"1" max:"1000" default:"100" fault:"limit must be a number from 1 to 1000"`
}

func (in ListMessages) Do(ctx context.Context, e *ops.Env) (Messages, error) {
	out := Messages{Messages: []ops.ShownMessage{}}
	k, err := e.Keeper(in.Service)
	if err != nil {
		return out, err
	}
	var states []string
	if in.States != "" {
		states = strings.Split(in.States, ",")
	}
	search := strings.ToLower(in.Search)
	err = k.Each(ctx, e, in.Entity, func(m *ops.ShownMessage, body []byte) bool {
		if len(states) > 0 && !slices.Contains(states, m.State) || search != "" && !mentions(m, body, search) {
			return true
		}
		if len(out.Messages) == in.Limit {
			out.More = true
			return false
		}
		describeBody(m, body)
		out.Messages = append(out.Messages, *m)
		return true
	})
	return out, k.Told(err)
}

// Messages are messages of an entity.
type Messages struct {
	Messages []ops.ShownMessage `json:"messages"`
	More     bool               `json:"more,omitempty"` // there are more than were asked for
}

// ReadBody writes the body of a message, at most 1 MiB of it; the header
// X-Redeliver-Truncated is "true" when there is more. It is never typed: what a message
// holds must not run as a page.
type ReadBody struct {
	ops.Op[ops.Stream] `route:"GET /messages/body" clock:"own"`

	Service string `query:"service,required"`
	Entity  string `query:"entity,required"`
	ID      string `query:"id,required"`
}

func (in ReadBody) Do(_ context.Context, e *ops.Env) (out ops.Stream, err error) {
	k, err := e.Keeper(in.Service)
	if err != nil {
		return out, err
	}
	var text []byte
	err = e.Inside("ReadBody", func(ctx context.Context) (err error) {
		if k.Body != nil {
			text, err = k.Body(ctx, e, in.Entity, in.ID)
			return err
		}
		found := false
		err = k.Each(ctx, e, in.Entity, func(m *ops.ShownMessage, body []byte) bool {
			if m.ID == in.ID {
				found, text = true, slices.Clone(body)
			}
			return !found
		})
		if err == nil && !found {
			err = ops.Gone(in.Entity, in.ID)
		}
		return err
	})
	if err != nil {
		return out, k.Told(err)
	}
	out = ops.Untyped()
	out.Header.Set("Content-Disposition", "attachment")
	if len(text) > ops.MostOfBody {
		text = text[:ops.MostOfBody]
		out.Header.Set(TruncatedHeader, "true")
	}
	return out.Bytes(text), nil
}

// ReleaseMessage ends the wait of a message now: a queue's is visible, the lock of a
// Service Bus message has expired and a scheduled one is active, an event is tried. 409
// when it waits for nothing.
type ReleaseMessage struct {
	ops.Op[ops.MessageMoved] `route:"POST /messages/release" body:"json"`

	ops.MessageName
}

func (in ReleaseMessage) Do(ctx context.Context, e *ops.Env) (ops.MessageMoved, error) {
	return byHand(ctx, e, ops.MessageMoved{MessageName: in.MessageName}, "nothing holds what it keeps", func(k *ops.Service) ops.Hand { return k.Release })
}

// PoisonMessage gives a message up by hand: a queue's goes to its poison queue, that of
// Service Bus to the dead-letter queue, an event to its dead letters, or away.
type PoisonMessage struct {
	ops.Op[ops.MessageMoved] `route:"POST /messages/poison" body:"json"`

	ops.MessageName
}

func (in PoisonMessage) Do(ctx context.Context, e *ops.Env) (ops.MessageMoved, error) {
	return byHand(ctx, e, ops.MessageMoved{MessageName: in.MessageName}, "it has no poison messages", func(k *ops.Service) ops.Hand { return k.Bury })
}

// RedriveMessages gives poison messages and dead letters another chance where they came
// from: the visible messages of a poison queue, the messages of a dead-letter queue of
// Service Bus, the dead letters of Event Grid in a container of blobs or, of service
// eventgrid, of TOPIC/SUBSCRIPTION. 409 when the one that ID names would come to nothing.
type RedriveMessages struct {
	ops.Op[ops.Redriven] `route:"POST /messages/redrive" effect:"destroys" body:"json" clock:"own"`

	ops.MessageName // without an ID all of the entity; of service eventgrid the event's id
}

func (in RedriveMessages) Do(ctx context.Context, e *ops.Env) (out ops.Redriven, err error) {
	k, err := e.Keeper(in.Service)
	if err != nil {
		return out, err
	}
	if k.Redrive == nil {
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("this cannot be done to messages of the service %s: it has no poison messages", in.Service), "")
	}
	if out, err = k.Redrive(ctx, e, in.Entity, in.ID); err != nil {
		return out, e.Meant(k, []string{in.Entity}, k.Refusal(err))
	}
	return out, nil
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{ops.Of(ListMessages{}), ops.Of(ReadBody{}), ops.Of(ReleaseMessage{}), ops.Of(PoisonMessage{}), ops.Of(RedriveMessages{}), ops.Of(RunAgain{})}
}
