package control

import (
	"time"

	"github.com/redeliver/redeliver/host/web/api"
)

// ListEntities lists the entities of Service Bus: queues, then topics, each with its
// subscriptions.
type ListEntities struct {
	api.Op[BusEntities] `route:"GET /servicebus"`
}

// BusEntities are the entities of the embedded Service Bus namespace.
type BusEntities struct {
	ServiceBus []BusEntity `json:"servicebus"`
}

// BusEntity is an entity of the embedded Service Bus namespace, and how many
// messages it holds. A topic can hold scheduled ones only.
type BusEntity struct {
	Path               string      `json:"path"` // "orders", "events/Subscriptions/all"
	Kind               string      `json:"kind"`
	Active             int64       `json:"active"` // locked ones count
	Locked             int64       `json:"locked"`
	Scheduled          int64       `json:"scheduled"`
	Deferred           int64       `json:"deferred"`
	DeadLetter         int64       `json:"deadLetter"`
	TransferDeadLetter int64       `json:"transferDeadLetter"`
	Settings           BusSettings `json:"settings"`
}

// BusSettings are the settings of an entity, under the names that they have at the
// service (spec messaging 1.1). Durations are ISO 8601, "PT1M"; one that is missing has
// no end, or in a new entity its default.
type BusSettings struct {
	LockDuration                              string `json:"lockDuration,omitempty"`
	MaxDeliveryCount                          int    `json:"maxDeliveryCount,omitempty"`
	DefaultMessageTimeToLive                  string `json:"defaultMessageTimeToLive,omitempty"`
	DeadLetteringOnMessageExpiration          bool   `json:"deadLetteringOnMessageExpiration,omitempty"`
	DeadLetteringOnFilterEvaluationExceptions *bool  `json:"enableDeadLetteringOnFilterEvaluationExceptions,omitempty"`
	RequiresSession                           bool   `json:"requiresSession,omitempty"`
	RequiresDuplicateDetection                bool   `json:"requiresDuplicateDetection,omitempty"`
	DuplicateDetectionHistoryTimeWindow       string `json:"duplicateDetectionHistoryTimeWindow,omitempty"`
	ForwardTo                                 string `json:"forwardTo,omitempty"`
	ForwardDeadLetteredMessagesTo             string `json:"forwardDeadLetteredMessagesTo,omitempty"`
	MaxSizeInMegabytes                        int    `json:"maxSizeInMegabytes,omitempty"`
	MaxMessageSizeInKilobytes                 int    `json:"maxMessageSizeInKilobytes,omitempty"`
	AutoDeleteOnIdle                          string `json:"autoDeleteOnIdle,omitempty"`
	Status                                    string `json:"status,omitempty"`
	UserMetadata                              string `json:"userMetadata,omitempty"`
}

// CreateEntity makes an entity; 409 when it is there. A path such as
// events/Subscriptions/all makes a subscription.
type CreateEntity struct {
	api.Op[BusEntity] `route:"PUT /servicebus/entity" status:"201" needs:"servicebus" body:"json" fault:"settings"`

	Path string `query:"path,required" json:"-"`
	BusSettings

	// Topic makes a topic of a path that is not one of a subscription; otherwise it
	// is a queue.
	Topic bool `json:"topic,omitempty"`

	// Filter and Action, in the service's SQL, are the only rule of a new
	// subscription. Without them it wants everything.
	Filter string `json:"filter,omitempty"`
	Action string `json:"action,omitempty"`
}

// DeleteEntity removes an entity with its messages, a topic with its subscriptions too.
type DeleteEntity struct {
	api.Op[EntityDeleted] `route:"DELETE /servicebus/entity" needs:"servicebus"`

	Path string `query:"path,required"`
}

// EntityDeleted says what was deleted. A topic goes with its subscriptions.
type EntityDeleted struct {
	Path          string `json:"path"`
	Kind          string `json:"kind"`
	Subscriptions int    `json:"subscriptions,omitempty"` // of a topic
	Messages      int64  `json:"messages"`                // that went with it, dead letters and messages of subscriptions included
}

// SendBusMessage sends a message to a queue or topic. With a delay or a time it is
// scheduled.
type SendBusMessage struct {
	api.Op[BusSent] `route:"POST /servicebus/messages" status:"201" needs:"servicebus"`

	Path          string        `query:"path,required"`
	SessionID     *string       `query:"session"`
	MessageID     string        `query:"id"`
	Subject       string        `query:"subject"`
	ContentType   string        `query:"contentType"`
	CorrelationID string        `query:"correlation"`
	To            string        `query:"to"`
	ReplyTo       string        `query:"replyTo"`
	PartitionKey  *string       `query:"partitionKey"`
	Properties    []string      `query:"property"`                                                                       // name=text; name:=5 for numbers, true, false, null
	Delay         time.Duration `query:"delay" min:"1ns" fault:"delay must be a duration above 0, for instance \"30s\""` // from now on
	At            string        `query:"at"`                                                                             // 2030-01-31T15:04:05Z
	TTL           time.Duration `query:"ttl" min:"1ns" fault:"ttl must be a duration above 0, for instance \"10m\""`
	Body          []byte        `body:"raw"`
}

// BusSent says what became of a message that was sent. SequenceNumber is set for a
// message that waits for its time.
type BusSent struct {
	Path           string    `json:"path"`
	MessageID      string    `json:"messageId"`
	ScheduledFor   time.Time `json:"scheduledFor,omitzero"`
	SequenceNumber int64     `json:"sequenceNumber,omitempty"`
}

// PeekEntity shows messages of any state. Nothing changes.
type PeekEntity struct {
	api.Op[BusPeeked] `route:"GET /servicebus/messages" needs:"servicebus"`

	Path    string  `query:"path,required"`
	Session *string `query:"session"`
	From    int64   `query:"from" min:"0" fault:"from %q: want a number from 0 to 9223372036854775807"` // the first sequence number
	Max     int     `query:"max" min:"1" fault:"max %q: want a number of 1 or more"`                    // absent: all
}

// BusPeeked is a part of an entity or of one of its sub-queues. Count is all of it.
type BusPeeked struct {
	Path     string       `json:"path"`
	Count    int64        `json:"count"`
	Entity   BusEntity    `json:"entity"`
	Messages []BusMessage `json:"messages"`
}

// BusMessage is a Service Bus message as the control API shows it.
type BusMessage struct {
	SequenceNumber   int64     `json:"sequenceNumber"`
	MessageID        string    `json:"messageId"`
	State            string    `json:"state"` // active, locked, deferred, scheduled
	FailedDeliveries int64     `json:"failedDeliveries"`
	Enqueued         time.Time `json:"enqueued"`
	ScheduledFor     time.Time `json:"scheduledFor,omitzero"`
	Expires          time.Time `json:"expires,omitzero"`
	LockedUntil      time.Time `json:"lockedUntil,omitzero"`

	DeadLetterReason      string `json:"deadLetterReason,omitempty"`
	DeadLetterDescription string `json:"deadLetterDescription,omitempty"`
	DeadLetterSource      string `json:"deadLetterSource,omitempty"`

	SessionID     *string        `json:"sessionId,omitempty"`
	Subject       string         `json:"subject,omitempty"`
	ContentType   string         `json:"contentType,omitempty"`
	CorrelationID string         `json:"correlationId,omitempty"`
	To            string         `json:"to,omitempty"`
	ReplyTo       string         `json:"replyTo,omitempty"`
	Properties    map[string]any `json:"properties,omitempty"` // without the dead-letter reason

	// Body is the body when it is text, Binary (base64) when it is not.
	Body   *string `json:"body,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
}

// PurgeEntity removes all messages of an entity, locked ones too.
type PurgeEntity struct {
	api.Op[Purged] `route:"DELETE /servicebus/messages" needs:"servicebus"`

	Path string `query:"path,required"`
}

// Purged says how many messages or documents were removed.
type Purged struct {
	Path    string `json:"path"`
	Removed int    `json:"removed"`
}

// RedriveEntity moves the messages of a dead-letter queue that are not locked, or some
// of them, back to the entity. A path without one means the entity's own.
type RedriveEntity struct {
	api.Op[Redriven] `route:"POST /servicebus/redrive" needs:"servicebus"`

	Path     string  `query:"path,required"`
	Sequence []int64 `query:"sequence" min:"0" fault:"sequence %q: want a sequence number" hint:"peek shows them"` // all unless there are some
}

// ExpireLocks ends all locks now, or only the locks of some messages or of a
// session, each a failed delivery.
type ExpireLocks struct {
	api.Op[LocksExpired] `route:"POST /servicebus/expire-lock" needs:"servicebus"`

	Path     string  `query:"path,required"`
	Sequence []int64 `query:"sequence" min:"0" fault:"sequence %q: want a sequence number" hint:"peek shows them"`
	Session  *string `query:"session"`
}

// LocksExpired says how many messages had a lock that was ended.
type LocksExpired struct {
	Path    string  `json:"path"`
	Session *string `json:"session,omitempty"`
	Expired int     `json:"expired"`
}
