package eventgrid

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
)

// CreateTopic makes a topic of Event Grid; 409 when it is there. Empty fields have the
// service's defaults.
type CreateTopic struct {
	ops.Op[GridTopic] `route:"PUT /eventgrid/topic" verb:"create" status:"201" body:"json"`

	Topic       string           `query:"topic,required" json:"-"`
	Key         string           `json:"key,omitempty" usage:"key that publishers of a new topic send (default: made from the seed)"`
	InputSchema eventgrid.Schema `json:"inputSchema,omitempty"`
}

func (in CreateTopic) Do(ctx context.Context, e *ops.Env) (out GridTopic, err error) {
	grid := e.Host.Services().EventGrid()
	if _, err := grid.Topic(in.Topic); err == nil {
		return out, ops.Refuse(http.StatusConflict, fmt.Sprintf("the topic %q already exists", in.Topic), "")
	}
	if err := grid.CreateTopic(ctx, eventgrid.Topic{Name: in.Topic, Key: in.Key, InputSchema: in.InputSchema}); err != nil {
		return out, err
	}
	for _, t := range topics(e) {
		if strings.EqualFold(t.Name, in.Topic) {
			out = t
		}
	}
	return out, nil
}

// GridTopic is a topic of the embedded Event Grid.
type GridTopic struct {
	eventgrid.TopicInfo
	Key string `json:"key"` // with which publishers are let in
}

// Subscribe makes an event subscription, or changes it. The body is a subscription as
// in host.json.
type Subscribe struct {
	ops.Op[Subscribed] `route:"PUT /eventgrid/subscription" status:"201" body:"json"`

	Topic string `query:"topic,required" json:"-"`
	Name  string `query:"name,required" json:"-"`
	eventgrid.Subscription
}

func (in Subscribe) Do(_ context.Context, e *ops.Env) (out Subscribed, err error) {
	if in.Function != "" && e.Report() != nil {
		of, own, err := e.Function(in.Function)
		if err != nil {
			return out, err
		}
		if f := of.App().Function(own); f != nil && f.Trigger != nil && !f.TakesEvents() {
			return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("the function %q takes no events: its trigger is %s", f.Name, f.Trigger.Type),
				`"redeliver ls functions" lists the functions; any other endpoint is a URL`)
		}
		in.Function = ops.Qualified(of, own)
	}
	in.Subscription.Name = in.Name
	grid := e.Host.Services().EventGrid()
	out = Subscribed{Topic: in.Topic, Subscription: in.Name}
	out.State, err = grid.Subscribe(grid.Context(), in.Topic, in.Subscription)
	return out, err
}

// Subscribed is an event subscription that was made.
type Subscribed struct {
	Topic        string          `json:"topic"`
	Subscription string          `json:"subscription"`
	State        eventgrid.State `json:"state"`
}

// AwaitsCode reports whether its web hook has to fetch the validation URL, since it did not
// answer with the code.
func (s *Subscribed) AwaitsCode() bool { return s.State == eventgrid.AwaitingManualAction }

// Schema is a schema of events.
type Schema = eventgrid.Schema

// SchemaOf is the schema that a word means: "eventgrid", "cloudevents", or its own name; none
// for "".
func SchemaOf(word string) (schema Schema, ok bool) {
	switch {
	case word == "":
		return "", true
	case word == "eventgrid" || strings.EqualFold(word, string(eventgrid.EventGridSchema)):
		return eventgrid.EventGridSchema, true
	case word == "cloudevents" || strings.EqualFold(word, string(eventgrid.CloudEventSchema)):
		return eventgrid.CloudEventSchema, true
	}
	return "", false
}

// DeleteTopic removes a topic with its event subscriptions.
type DeleteTopic struct {
	ops.Op[GridDeleted] `route:"DELETE /eventgrid/topic" verb:"delete"`

	Topic string `query:"topic,required"`
}

// Do removes a topic of Event Grid.
func (in DeleteTopic) Do(ctx context.Context, e *ops.Env) (out GridDeleted, err error) {
	grid := e.Host.Services().EventGrid()
	out = GridDeleted{Topic: in.Topic, Pending: len(grid.Deliveries(in.Topic, ""))}
	t, err := grid.Topic(in.Topic)
	if err != nil {
		return out, err
	}
	out.Topic = t.Name
	for _, info := range grid.Topics() {
		if info.Name == t.Name {
			out.Subscriptions = len(info.Subscriptions)
		}
	}
	return out, grid.DeleteTopic(ctx, t.Name)
}

// Unsubscribe removes an event subscription with its events.
type Unsubscribe struct {
	ops.Op[GridDeleted] `route:"DELETE /eventgrid/subscription"`

	Topic        string `query:"topic,required"`
	Subscription string `query:"name,required"`
}

// Do removes an event subscription.
func (in Unsubscribe) Do(ctx context.Context, e *ops.Env) (GridDeleted, error) {
	grid := e.Host.Services().EventGrid()
	out := GridDeleted{Topic: in.Topic, Subscription: in.Subscription, Pending: len(grid.Deliveries(in.Topic, in.Subscription))}
	return out, grid.Unsubscribe(ctx, in.Topic, in.Subscription)
}

// GridDeleted says what was deleted of Event Grid: a topic with its event
// subscriptions, or one of them.
type GridDeleted struct {
	Topic         string `json:"topic"`
	Subscription  string `json:"subscription,omitempty"`
	Subscriptions int    `json:"subscriptions,omitempty"` // of a topic
	Pending       int    `json:"pending"`                 // events that were not delivered yet
}

// Publish publishes the event, or the array of events, of the body. Required fields that
// are missing are added.
type Publish struct {
	ops.Op[Published] `route:"POST /eventgrid/events" verb:"send" status:"201"`

	Topic string `query:"topic,required"`
	Raw   bool   `query:"raw" usage:"add no fields"`
	Body  []byte `body:"raw"`
}

func (in Publish) Do(ctx context.Context, e *ops.Env) (out Published, err error) {
	grid := e.Host.Services().EventGrid()
	topic, err := grid.Topic(in.Topic)
	if err != nil {
		return out, err
	}
	body, err := eventArray(in.Body)
	if err == nil && !in.Raw {
		body, err = completeEvents(body, topic.InputSchema, e.Host.Clock().Now())
	}
	if err != nil {
		return out, ops.BadRequest(err)
	}
	events, err := eventgrid.ParseEvents(body, topic.InputSchema)
	if err != nil {
		return out, err
	}
	out = Published{Topic: topic.Name, IDs: []string{}}
	for _, e := range events {
		out.IDs = append(out.IDs, e.ID)
	}
	return out, grid.Publish(ctx, in.Topic, events...)
}

// Published says which events a topic has taken.
type Published struct {
	Topic string   `json:"topic"`
	IDs   []string `json:"ids"`
}
