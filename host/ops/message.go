package ops

import (
	"time"
)

// Redriven says what a redrive has moved.
type Redriven struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Moved int    `json:"moved"`
	Left  int    `json:"left"`            // still in From: invisible, locked, not asked for, or arrived meanwhile
	ID    string `json:"id,omitempty"`    // of the one message of a queue that was asked for
	NewID string `json:"newId,omitempty"` // that it has now
}

// Purged says how many messages or documents were removed.
type Purged struct {
	Path    string `json:"path"`
	Removed int    `json:"removed"`
}

// Endpoint is where clients find a service of the host.
type Endpoint struct {
	Service          string `json:"service"`
	Address          string `json:"address,omitempty"`
	ConnectionString string `json:"connectionString,omitempty"` // without a key of the user's own
}

// DueItem is something that will happen at a time.
type DueItem struct {
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"` // retry, redelivery, delayed, lock, scheduled, event, timer, breaker
	Function  string    `json:"function,omitempty"`
	Delivery  string    `json:"delivery,omitempty"`
	MessageID string    `json:"messageId,omitempty"`
	Service   string    `json:"service,omitempty"` // of the message, as in GET /messages
	Entity    string    `json:"entity,omitempty"`
	Text      string    `json:"text"`
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
