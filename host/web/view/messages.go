// Package view is the part of the control API that shows a host to people: its app, what
// is due, and the messages of all its services in one form. Operations and answers are as
// in package control, whose words of each service stay the ones for programs.
package view

import (
	"time"

	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/host/web/control"
)

// ListMessages shows messages of any state that an entity holds, in the order of the
// service. Nothing changes. Service is queue, servicebus, eventgrid, eventhub, cosmos or
// blob; an entity is a queue, a path of Service Bus such as orders/$DeadLetterQueue, a
// topic of Event Grid or TOPIC/SUBSCRIPTION, a hub, DATABASE/CONTAINER, a container.
type ListMessages struct {
	api.Op[Messages] `route:"GET /messages"`

	Service string `query:"service,required"`
	Entity  string `query:"entity,required"`
	Search  string `query:"search"` // a part of an identity, of a body that is text, or of a property, whatever the case
	States  string `query:"states"` // only these, with commas: see ShownMessage
	Limit   int    `query:"limit" min:"1" max:"1000" default:"100" fault:"limit must be a number from 1 to 1000"`
}

// Messages are messages of an entity.
type Messages struct {
	Messages []ShownMessage `json:"messages"`
	More     bool           `json:"more,omitempty"` // there are more than were asked for
}

// ShownMessage is a message, event, document or blob as the page shows it. Its state is
// of a queue: visible, hidden (in work, or waits for its redelivery) or scheduled; of
// Service Bus: active, locked, scheduled or deferred; of Event Grid: waiting, sending or
// dead (its dead letter is to be written); of all else visible.
type ShownMessage struct {
	ID            string            `json:"id"` // in its entity; of Service Bus the sequence number, of a hub PARTITION/SEQUENCE, of Event Grid TOPIC/SUBSCRIPTION/EVENT
	MessageID     string            `json:"messageId,omitempty"`
	Sequence      int64             `json:"sequence,omitempty"` // of Service Bus, ID as a number
	State         string            `json:"state"`
	DeliveryCount int64             `json:"deliveryCount,omitempty"` // deliveries so far; of Service Bus those that failed
	Enqueued      time.Time         `json:"enqueued,omitzero"`
	VisibleAt     time.Time         `json:"visibleAt,omitzero"` // end of its lock or wait, or its next attempt
	Expires       time.Time         `json:"expires,omitzero"`
	Size          int64             `json:"size"`
	Preview       string            `json:"preview,omitempty"` // the beginning of a body that is text, at most 256 characters
	Binary        bool              `json:"binary,omitempty"`  // the body is no text
	Properties    map[string]string `json:"properties,omitempty"`
	Origin        string            `json:"origin,omitempty"` // where a poison message or dead letter came from
	Reason        string            `json:"reason,omitempty"` // why it is there, or failed last
}

// ReadBody writes the body of a message, at most 1 MiB of it; the header
// X-Redeliver-Truncated is "true" when there is more. It is never typed: what a message
// holds must not run as a page.
type ReadBody struct {
	api.Op[api.Stream] `route:"GET /messages/body"`

	Service string `query:"service,required"`
	Entity  string `query:"entity,required"`
	ID      string `query:"id,required"`
}

// ReleaseMessage ends the wait of a message now: a queue's is visible, the lock of a
// Service Bus message has expired and a scheduled one is active, an event is tried. 409
// when it waits for nothing.
type ReleaseMessage struct {
	api.Op[MessageMoved] `route:"POST /messages/release" body:"json"`

	MessageName
}

// PoisonMessage gives a message up by hand: a queue's goes to its poison queue, that of
// Service Bus to the dead-letter queue, an event to its dead letters, or away.
type PoisonMessage struct {
	api.Op[MessageMoved] `route:"POST /messages/poison" body:"json"`

	MessageName
}

// RedriveMessages gives poison messages and dead letters another chance where they came
// from: the visible messages of a poison queue, the messages of a dead-letter queue of
// Service Bus, the dead letters of Event Grid in a container of blobs or, of service
// eventgrid, of TOPIC/SUBSCRIPTION. 409 when the one that ID names would come to nothing.
type RedriveMessages struct {
	api.Op[control.Redriven] `route:"POST /messages/redrive" body:"json"`

	MessageName // without an ID all of the entity; of service eventgrid the event's id
}

// MessageName names a message of a service, by the names of ListMessages.
type MessageName struct {
	Service string `json:"service"`
	Entity  string `json:"entity"`
	ID      string `json:"id"`
}

// MessageMoved says what was done to a message.
type MessageMoved struct {
	MessageName
	Target string `json:"target,omitempty"` // where it is now, if that is elsewhere
	NewID  string `json:"newId,omitempty"`  // that it has there
}
