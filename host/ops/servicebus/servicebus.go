package servicebus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops"
)

// ListEntities lists the entities of Service Bus: queues, then topics, each with its
// subscriptions.
type ListEntities struct {
	ops.Op[BusEntities] `route:"GET /servicebus"`
}

func (ListEntities) Do(ctx context.Context, e *ops.Env) (out BusEntities, err error) {
	out.ServiceBus, err = entities(ctx, e)
	return out, err
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
	LockDuration                              string `json:"lockDuration,omitempty" unit:"iso" usage:"life of a lock"`
	MaxDeliveryCount                          int    `json:"maxDeliveryCount,omitempty" usage:"failed deliveries before a message is dead-lettered"`
	DefaultMessageTimeToLive                  string `json:"defaultMessageTimeToLive,omitempty" unit:"iso" flag:"ttl" usage:"longest time to live of a message"`
	DeadLetteringOnMessageExpiration          bool   `json:"deadLetteringOnMessageExpiration,omitempty" flag:"dead-letter-on-expiration" usage:"dead-letter expired messages, instead of dropping them"`
	DeadLetteringOnFilterEvaluationExceptions *bool  `json:"enableDeadLetteringOnFilterEvaluationExceptions,omitempty" flag:"drop-on-filter-error" usage:"drop messages for which the filter fails, instead of dead-lettering them"` // false drops them
	RequiresSession                           bool   `json:"requiresSession,omitempty" flag:"sessions" usage:"require sessions"`
	RequiresDuplicateDetection                bool   `json:"requiresDuplicateDetection,omitempty" flag:"duplicate-detection" usage:"drop messages whose ID was sent before"`
	DuplicateDetectionHistoryTimeWindow       string `json:"duplicateDetectionHistoryTimeWindow,omitempty" unit:"iso" flag:"duplicate-window" usage:"how long IDs are remembered (implies --duplicate-detection)"` // how long IDs are remembered
	ForwardTo                                 string `json:"forwardTo,omitempty" usage:"queue or topic to which all messages are forwarded"`
	ForwardDeadLetteredMessagesTo             string `json:"forwardDeadLetteredMessagesTo,omitempty" flag:"forward-dead-letters-to" usage:"queue or topic to which dead letters are forwarded"`
	MaxSizeInMegabytes                        int    `json:"maxSizeInMegabytes,omitempty" flag:"max-size" usage:"maximum size of all messages together in MB"`
	MaxMessageSizeInKilobytes                 int    `json:"maxMessageSizeInKilobytes,omitempty" flag:"max-message-size" usage:"maximum size of one message in KB"`
	AutoDeleteOnIdle                          string `json:"autoDeleteOnIdle,omitempty" unit:"iso" usage:"remove the entity when nobody has used it for this long"`
	Status                                    string `json:"status,omitempty" usage:"Active, Disabled, SendDisabled or ReceiveDisabled"`
	UserMetadata                              string `json:"userMetadata,omitempty" usage:"text of your own"`
}

// CreateEntity makes an entity; 409 when it is there. A path such as
// events/Subscriptions/all makes a subscription.
type CreateEntity struct {
	ops.Op[BusEntity] `route:"PUT /servicebus/entity" verb:"create" status:"201" needs:"servicebus" body:"json" fault:"settings"`

	Path string `query:"path,required" json:"-"`
	BusSettings

	// Topic makes a topic of a path that is not one of a subscription; otherwise it
	// is a queue.
	Topic bool `json:"topic,omitempty" usage:"make a topic"`

	// Filter and Action, in the service's SQL, are the only rule of a new
	// subscription. Without them it wants everything.
	Filter string `json:"filter,omitempty" usage:"SQL filter of a subscription (default: every message)"`
	Action string `json:"action,omitempty" usage:"SQL action of a subscription, e.g. \"SET priority = 'high'\""`
}

// Do makes a queue, a topic or a subscription.
func (in CreateEntity) Do(ctx context.Context, e *ops.Env) (out BusEntity, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue != servicebus.MainQueue {
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("%q: every queue and every subscription has its dead-letter queue: it cannot be made", path), "")
	}
	if err := createAt(ctx, e, &in, path); err != nil {
		if path.Subscription != "" && errors.Is(err, bindings.ErrNotFound) {
			e := messaging.ErrorOf(err)
			err = ops.Refuse(e.Status, e.Text, fmt.Sprintf("make the topic first: redeliver create servicebus %s --topic", path.Entity))
		}
		return out, err
	}
	return entityOf(ctx, e, path)
}

// DeleteEntity removes an entity with its messages, a topic with its subscriptions too.
type DeleteEntity struct {
	ops.Op[EntityDeleted] `route:"DELETE /servicebus/entity" verb:"delete" needs:"servicebus"`

	Path string `query:"path,required"`
}

// Do removes a queue, a topic or a subscription.
func (in DeleteEntity) Do(ctx context.Context, env *ops.Env) (out EntityDeleted, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue != servicebus.MainQueue {
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("%q: a dead-letter queue goes with its entity", path), `"redeliver purge servicebus" empties it`)
	}
	e, err := entityOf(ctx, env, path)
	if err != nil {
		return out, err
	}
	out = EntityDeleted{Path: path.String(), Kind: e.Kind, Messages: allMessages(&e)}
	ns := env.Host.Services().ServiceBus()
	switch e.Kind {
	case setting.Subscription:
		return out, ns.DeleteSubscription(ctx, path.Entity, path.Subscription)
	case setting.Queue:
		return out, ns.DeleteQueue(ctx, path.Entity)
	}
	subscriptions, err := ns.ListSubscriptions(ctx, path.Entity)
	if err != nil {
		return out, err
	}
	for _, info := range subscriptions {
		sub, err := subscriptionEntity(ctx, env, info)
		if err != nil {
			return out, err
		}
		out.Subscriptions++
		out.Messages += allMessages(&sub)
	}
	return out, ns.DeleteTopic(ctx, path.Entity)
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
	ops.Op[BusSent] `route:"POST /servicebus/messages" verb:"send" status:"201" needs:"servicebus"`

	Path          string        `query:"path,required"`
	SessionID     *string       `query:"session" usage:"session that the message belongs to"`
	MessageID     string        `query:"id" usage:"ID of the message"`
	Subject       string        `query:"subject" usage:"subject, also called label"`
	ContentType   string        `query:"contentType" usage:"content type, e.g. application/json"`
	CorrelationID string        `query:"correlation" flag:"correlation-id" usage:"correlation ID"`
	To            string        `query:"to" usage:"address of your own"`
	ReplyTo       string        `query:"replyTo" usage:"address for answers"`
	PartitionKey  *string       `query:"partitionKey" usage:"partition key"`
	Properties    []string      `query:"property" usage:"application property, name=text or name:=5"` // name=text; name:=5 for numbers, true, false, null
	Delay         time.Duration `query:"delay" min:"1ns" fault:"delay must be a duration above 0, for instance \"30s\"" usage:"schedule the message for this long from now, e.g. 30s"`
	At            string        `query:"at" usage:"schedule it for that time, e.g. 2030-01-31T15:04:05Z"`
	TTL           time.Duration `query:"ttl" min:"1ns" fault:"ttl must be a duration above 0, for instance \"10m\"" usage:"let the message expire after this long, e.g. 10m (default: the entity's)"`
	Body          []byte        `body:"raw"`
}

func (in SendBusMessage) Do(ctx context.Context, e *ops.Env) (out BusSent, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	m := &servicebus.Message{
		MessageID: cmp.Or(in.MessageID, uuid.NewString()), CorrelationID: in.CorrelationID, Subject: in.Subject, To: in.To,
		ReplyTo: in.ReplyTo, ContentType: in.ContentType, SessionID: in.SessionID, PartitionKey: in.PartitionKey, TimeToLive: in.TTL, Body: in.Body,
	}
	var at time.Time
	switch {
	case in.Delay != 0 && in.At != "":
		return out, ops.Refuse(http.StatusBadRequest, "delay and at exclude each other", "")
	case in.Delay != 0:
		at = e.Host.Clock().Now().Add(in.Delay)
	case in.At != "":
		if at, err = time.Parse(time.RFC3339, in.At); err != nil {
			return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("at %q: want a time such as 2030-01-31T15:04:05Z", in.At), "")
		}
	}
	if m.ApplicationProperties, err = ops.Properties(in.Properties); err != nil {
		return out, ops.BadRequest(err)
	}
	out = BusSent{Path: path.String(), MessageID: m.MessageID, ScheduledFor: at}
	if at.IsZero() {
		return out, e.Host.Services().ServiceBus().Send(ctx, out.Path, m)
	}
	numbers, err := e.Host.Services().ServiceBus().Schedule(ctx, out.Path, at, m)
	if err == nil {
		out.SequenceNumber = numbers[0]
	}
	return out, err
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
	ops.Op[BusPeeked] `route:"GET /servicebus/messages" verb:"peek" needs:"servicebus"`

	Path    string  `query:"path,required"`
	Session *string `query:"session" usage:"show only the messages of this session"`
	From    int64   `query:"from" min:"0" want:"a sequence number" fault:"from %q: want a number from 0 to 9223372036854775807" usage:"show messages from this sequence number on"`
	Max     int     `query:"max" min:"1" want:"a number of 1 or more" fault:"max %q: want a number of 1 or more" usage:"show at most this many messages (default all)"`
}

func (in PeekEntity) Do(ctx context.Context, e *ops.Env) (BusPeeked, error) {
	out := BusPeeked{Messages: []BusMessage{}}
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	ns := e.Host.Services().ServiceBus()
	if out.Entity, err = entityOf(ctx, e, path); err != nil {
		return out, err
	}
	out.Path, out.Count = out.Entity.Path+string(path.SubQueue), messagesIn(&out.Entity, path.SubQueue)
	found, err := ns.Peek(ctx, out.Path, in.Session, in.From, cmp.Or(in.Max, math.MaxInt))
	if err != nil {
		return out, err
	}
	locks := map[int64]emulator.Held{}
	if out.Entity.Kind != setting.Topic {
		held, err := ns.Held(ctx, out.Path)
		if err != nil {
			return out, err
		}
		for _, h := range held {
			locks[h.SequenceNumber] = h
		}
	}
	for _, m := range found {
		out.Messages = append(out.Messages, show(m, locks))
	}
	return out, nil
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
	ops.Op[ops.Purged] `route:"DELETE /servicebus/messages" verb:"purge" needs:"servicebus" step:"purge"`

	Path string `query:"path,required" step:"serviceBus,place"`
}

func (in PurgeEntity) Do(ctx context.Context, e *ops.Env) (out ops.Purged, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	out.Path = path.String()
	out.Removed, err = e.Host.Services().ServiceBus().Purge(ctx, out.Path)
	return out, err
}

// RedriveEntity moves the messages of a dead-letter queue that are not locked, or some
// of them, back to the entity. A path without one means the entity's own.
type RedriveEntity struct {
	ops.Op[ops.Redriven] `route:"POST /servicebus/redrive" verb:"redrive" effect:"destroys" needs:"servicebus" step:"redrive"`

	Path     string  `query:"path,required" step:"serviceBus,place"`
	Sequence []int64 `query:"sequence" min:"0" fault:"sequence %q: want a sequence number" hint:"peek shows them" usage:"move only the message with this sequence number, as peek shows it"`
	ID       string  `step:"messageId"` // instead of Sequence: those with this message ID
}

// Do moves messages of a dead-letter queue back; a path without one means
// the entity's own.
func (in RedriveEntity) Do(ctx context.Context, env *ops.Env) (out ops.Redriven, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue == servicebus.MainQueue {
		path.SubQueue = servicebus.DeadLetterQueue
	}
	e, err := entityOf(ctx, env, path)
	if err != nil {
		return out, err
	}
	out.To, out.From = e.Path, e.Path+string(path.SubQueue)
	if in.ID != "" {
		if in.Sequence, err = numbered(ctx, env, out.From, in.ID, anyState); err != nil || len(in.Sequence) == 0 {
			return out, err
		}
	}
	if out.Moved, err = env.Host.Services().ServiceBus().Redrive(ctx, out.From, in.Sequence...); err != nil {
		return out, err
	}
	e, err = entityOf(ctx, env, path)
	out.Left = int(messagesIn(&e, path.SubQueue))
	return out, err
}

// ExpireLocks ends all locks now, or only the locks of some messages or of a
// session, each a failed delivery.
type ExpireLocks struct {
	ops.Op[LocksExpired] `route:"POST /servicebus/expire-lock" verb:"expire-lock" needs:"servicebus"`

	Path     string  `query:"path,required"`
	Sequence []int64 `query:"sequence" min:"0" fault:"sequence %q: want a sequence number" hint:"peek shows them" usage:"end only the lock of the message with this sequence number"`
	Session  *string `query:"session" usage:"end only the lock of this session"`
}

func (in ExpireLocks) Do(ctx context.Context, e *ops.Env) (out LocksExpired, err error) {
	path, err := parsePath(in.Path)
	if err != nil {
		return out, err
	}
	if in.Session != nil && len(in.Sequence) > 0 {
		return out, ops.Refuse(http.StatusBadRequest, "session and sequence exclude each other: messages of a session have no lock of their own", "")
	}
	ns := e.Host.Services().ServiceBus()
	out = LocksExpired{Path: path.String(), Session: in.Session}
	if in.Session == nil {
		out.Expired, err = ns.ExpireLocks(ctx, out.Path, in.Sequence...)
		return out, err
	}
	held, err := ns.Held(ctx, out.Path)
	if err != nil {
		return out, err
	}
	for _, h := range held {
		if h.SessionID != nil && *h.SessionID == *in.Session {
			out.Expired++
		}
	}
	return out, ns.ExpireSession(ctx, out.Path, *in.Session)
}

// LocksExpired says how many messages had a lock that was ended.
type LocksExpired struct {
	Path    string  `json:"path"`
	Session *string `json:"session,omitempty"`
	Expired int     `json:"expired"`
}
