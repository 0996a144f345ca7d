package control

import (
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/api"
)

// CreateTopic makes a topic of Event Grid; 409 when it is there. Empty fields have the
// service's defaults.
type CreateTopic struct {
	api.Op[GridTopic] `route:"PUT /eventgrid/topic" status:"201" body:"json"`

	Topic       string           `query:"topic,required" json:"-"`
	Key         string           `json:"key,omitempty"`
	InputSchema eventgrid.Schema `json:"inputSchema,omitempty"`
}

// GridTopic is a topic of the embedded Event Grid.
type GridTopic struct {
	eventgrid.TopicInfo
	Key string `json:"key"` // with which publishers are let in
}

// Subscribe makes an event subscription, or changes it. The body is a subscription as
// in host.json.
type Subscribe struct {
	api.Op[Subscribed] `route:"PUT /eventgrid/subscription" status:"201" body:"json"`

	Topic string `query:"topic,required" json:"-"`
	Name  string `query:"name,required" json:"-"`
	eventgrid.Subscription
}

// Subscribed is an event subscription that was made.
type Subscribed struct {
	Topic        string          `json:"topic"`
	Subscription string          `json:"subscription"`
	State        eventgrid.State `json:"state"`
}

// DeleteTopic removes a topic with its event subscriptions.
type DeleteTopic struct {
	api.Op[GridDeleted] `route:"DELETE /eventgrid/topic"`

	Topic string `query:"topic,required"`
}

// Unsubscribe removes an event subscription with its events.
type Unsubscribe struct {
	api.Op[GridDeleted] `route:"DELETE /eventgrid/subscription"`

	Topic        string `query:"topic,required"`
	Subscription string `query:"name,required"`
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
	api.Op[Published] `route:"POST /eventgrid/events" status:"201"`

	Topic string `query:"topic,required"`
	Raw   bool   `query:"raw"` // add nothing
	Body  []byte `body:"raw"`
}

// Published says which events a topic has taken.
type Published struct {
	Topic string   `json:"topic"`
	IDs   []string `json:"ids"`
}
