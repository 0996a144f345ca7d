package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// EventGridEvent is an event of the Event Grid schema.
type EventGridEvent struct {
	ID          string          `json:"id"`
	Topic       string          `json:"topic,omitempty"` // set by the service: leave it empty in an output
	Subject     string          `json:"subject"`
	EventType   string          `json:"eventType"`
	EventTime   time.Time       `json:"eventTime"`
	Data        json.RawMessage `json:"data,omitempty"`
	DataVersion string          `json:"dataVersion,omitempty"`

	// DeliveryCount says how often Event Grid has sent the event, this time
	// included; 0 in calls by hand. It is not part of the event.
	DeliveryCount int64 `json:"-"`
}

// Decode reads the event's data into the value that target points to.
func (e EventGridEvent) Decode(target any) error { return decodeData(e.Data, target) }

// CloudEvent is an event of the schema CloudEvents 1.0.
type CloudEvent struct {
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	SpecVersion     string          `json:"specversion"` // "1.0"
	Type            string          `json:"type"`
	Subject         string          `json:"subject,omitempty"`
	Time            time.Time       `json:"time,omitzero"`
	DataContentType string          `json:"datacontenttype,omitempty"`
	DataSchema      string          `json:"dataschema,omitempty"`
	Data            json.RawMessage `json:"data,omitempty"`
	DataBase64      []byte          `json:"data_base64,omitempty"` // instead of Data

	// DeliveryCount says how often Event Grid has sent the event, this time
	// included; 0 in calls by hand. It is not part of the event.
	DeliveryCount int64 `json:"-"`
}

// Decode reads the event's data into the value that target points to.
func (e CloudEvent) Decode(target any) error { return decodeData(e.Data, target) }

func decodeData(data json.RawMessage, target any) error {
	if err := json.Unmarshal(data, target); err != nil {
		return fmt.Errorf("event grid event: data: %w", err)
	}
	return nil
}

// EventGrid registers a function that Event Grid sends events to, one in each call.
// Event subscriptions select the events: redeliver.eventGrid in host.json, or any
// publisher that knows the app's web hook. After the last failed attempt Event Grid
// is told, and sends the event again by its own schedule for up to a day. A
// function that takes longer than 30 seconds gets the same event again meanwhile.
func (a *App) EventGrid(name string, h func(ctx context.Context, e EventGridEvent) error, opts ...EventGridOption) {
	a.eventGrid(name, "EventGridSchema", h == nil, func(ctx context.Context, c *invocation) error {
		var e EventGridEvent
		if err := decodeEvent(c.request, &e); err != nil {
			return err
		}
		e.DeliveryCount = c.request.DeliveryCount
		return h(ctx, e)
	}, opts)
}

// CloudEvent registers a function that gets CloudEvents. Otherwise it is like
// [App.EventGrid].
func (a *App) CloudEvent(name string, h func(ctx context.Context, e CloudEvent) error, opts ...EventGridOption) {
	a.eventGrid(name, "CloudEventSchemaV1_0", h == nil, func(ctx context.Context, c *invocation) error {
		var e CloudEvent
		if err := decodeEvent(c.request, &e); err != nil {
			return err
		}
		e.DeliveryCount = c.request.DeliveryCount
		return h(ctx, e)
	}, opts)
}

func (a *App) eventGrid(name, schema string, missing bool, handle func(context.Context, *invocation) error, opts []EventGridOption) {
	f := a.register(name, missing)
	f.trigger = map[string]any{"type": "eventGridTrigger", "direction": "in", "name": "event", "eventSchema": schema}
	f.handle = handle
	for _, o := range opts {
		o.applyEventGrid(f)
	}
}

func decodeEvent(r *call.Request, target any) error {
	if err := json.Unmarshal(triggerInput(r).Bytes(), target); err != nil {
		return fmt.Errorf("event grid event: %w", err)
	}
	return nil
}

// EventGridOption is an option of [App.EventGrid] and [App.CloudEvent].
type EventGridOption interface{ applyEventGrid(*function) }

func (o anyOption) applyEventGrid(f *function) { o(f) }

// EventGridOutput declares an output to an Event Grid topic. endpoint and key are
// the names of the settings that hold the topic's endpoint and its key. Values are
// events, [EventGridEvent] or [CloudEvent] by the topic's schema, or lists of them.
// Otherwise it is like [QueueOutput].
func EventGridOutput(name, endpoint, key string) Option {
	raw := object(map[string]any{"type": "eventGrid", "direction": "out", "name": name, "topicEndpointUri": endpoint, "topicKeySetting": key})
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}
