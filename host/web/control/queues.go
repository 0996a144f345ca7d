package control

import (
	"time"

	"github.com/redeliver/redeliver/host/web/api"
)

// ListQueues lists the queues of the embedded storage account.
type ListQueues struct {
	api.Op[Queues] `route:"GET /queues" needs:"storage"`
}

// Queues are the queues of an account, sorted by name.
type Queues struct {
	Queues []QueueInfo `json:"queues"`
}

// QueueInfo is a queue of the embedded storage account.
type QueueInfo struct {
	Name      string `json:"name"`
	Count     int    `json:"count"`     // all messages
	Visible   int    `json:"visible"`   // a function could take them now
	Invisible int    `json:"invisible"` // in work, waiting for redelivery, or delayed
}

// SendMessage puts a message on a queue, encoded as the app expects it, and makes the
// queue when it is missing.
type SendMessage struct {
	api.Op[Message] `route:"POST /queues/{name}/messages" status:"201" needs:"storage"`

	Queue  string        `path:"name"`
	Raw    bool          `query:"raw"`                                                                                                // as it is, not encoded
	Delay  time.Duration `query:"visibility" min:"0s" fault:"visibility must be a duration of 0 or more" hint:"for instance \"30s\""` // until it is visible
	TTL    string        `query:"ttl"`                                                                                                // its life, "10m" or "never"
	Create bool          `query:"create"`                                                                                             // make the queue though its name is near to another one
	Body   []byte        `body:"raw"`
}

// Message is a queue message as the control API shows it.
type Message struct {
	ID           string    `json:"id"`
	DequeueCount int64     `json:"dequeueCount"`
	Inserted     time.Time `json:"inserted"`
	Expires      time.Time `json:"expires,omitzero"`
	NextVisible  time.Time `json:"nextVisible,omitzero"` // only of a message that is not visible

	// Text is what the service holds; Body is the decoded body when it is text,
	// Binary (base64) when it is not. Undecodable says why neither is there.
	Text        string  `json:"text"`
	Body        *string `json:"body,omitempty"`
	Binary      []byte  `json:"binary,omitempty"`
	Undecodable string  `json:"undecodable,omitempty"`

	// LastError is the failure that brought a message into its poison queue, where
	// the host has seen it: host.Host.PoisonError.
	LastError string `json:"lastError,omitempty"`
}

// PeekQueue shows visible messages, or the one with an identifier, visible or not.
// Nothing changes.
type PeekQueue struct {
	api.Op[Peeked] `route:"GET /queues/{name}/messages" needs:"storage"`

	Queue string `path:"name"`
	Max   int    `query:"max" min:"1" fault:"max must be a number of 1 or more"` // absent: all
	ID    string `query:"id"`
}

// Peeked is the visible part of a queue. Count also counts what is invisible: in
// work, waiting for its redelivery, or delayed.
type Peeked struct {
	Queue    string    `json:"queue"`
	Count    int       `json:"count"`
	Messages []Message `json:"messages"`
}

// PurgeQueue removes all messages from a queue, invisible ones too.
type PurgeQueue struct {
	api.Op[QueuePurged] `route:"DELETE /queues/{name}/messages" needs:"storage"`

	Queue string `path:"name"`
}

// QueuePurged says how many messages a queue held when it was emptied.
type QueuePurged struct {
	Queue   string `json:"queue"`
	Removed int    `json:"removed"`
}

// RedriveQueue moves the visible messages of a queue, or the one with an identifier, to
// another queue; 409 for a message in work.
type RedriveQueue struct {
	api.Op[Redriven] `route:"POST /queues/{name}/redrive" needs:"storage"`

	Queue string `path:"name"`
	To    string `query:"to"` // without it the queue that a queue NAME-poison belongs to
	ID    string `query:"id"`
}

// Redriven says what a redrive has moved.
type Redriven struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Moved int    `json:"moved"`
	Left  int    `json:"left"`            // still in From: invisible, locked, not asked for, or arrived meanwhile
	ID    string `json:"id,omitempty"`    // of the one message of a queue that was asked for
	NewID string `json:"newId,omitempty"` // that it has now
}
