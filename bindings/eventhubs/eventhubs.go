// Package eventhubs is the contract of an Event Hubs namespace: events are sent to
// partitions and read from a position, and a reader takes nothing away.
//
// Read [Namespace] first.
package eventhubs

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// Namespace is one Event Hubs namespace, as those see it who send and receive.
//
// Hubs, consumer groups and partitions are named without regard to case. All
// methods may be called concurrently. A refusal of the service is a
// [*messaging.Error]: both services report failures by AMQP conditions. errors.Is
// holds with the conditions of this package; a context's error passes unchanged;
// everything else is a failure of the transport. Bytes of bodies and wire sections
// are shared and not changed by anybody once they were sent.
//
// Reference: spec messaging 3.13 and 6; docs, Event Hubs features.
type Namespace interface {
	// FullyQualifiedNamespace names the namespace in the checkpoint store:
	// "contoso.servicebus.windows.net", or the host of an emulator.
	FullyQualifiedNamespace() string

	// SendEvents adds events to one partition of a hub, all or none, in order:
	// the partition that opts names, the one that the hash of its partition key
	// picks, or else the next in turn. Nil options are the last. The events' own
	// PartitionKey is what readers see; SendEvents sets it to the key of opts,
	// if there is one.
	//
	// It fails with bindings.ErrNotFound (hub or partition), bindings.ErrTooLarge (more than
	// [MaxBatch] bytes together) and bindings.ErrInvalidArgument (key and partition both,
	// or a key of more than messaging.MaxID characters).
	SendEvents(ctx context.Context, hub string, opts *SendOptions, events ...*Event) error

	// Hub returns the description of a hub, bindings.ErrNotFound if there is none.
	Hub(ctx context.Context, name string) (*Properties, error)

	// Partition returns what a partition says of itself.
	Partition(ctx context.Context, hub, partition string) (*Partition, error)

	// ReadEvents opens a reader of one partition for a consumer group, at a
	// position. Nil options mean a reader without an epoch. It fails with
	// bindings.ErrNotFound when the hub does not exist or has no such group; every
	// hub has [DefaultConsumerGroup]. A number or an offset behind the last
	// event's, or one that the service cannot have made, is
	// bindings.ErrInvalidArgument.
	//
	// Of readers with an owner level (an epoch) one consumer group has one in each
	// partition: a higher or equal level disconnects the readers that are there, a
	// lower one, and a reader without a level, is refused with messaging.ErrReaderStolen.
	// Of readers without a level there may be five; the next is messaging.ErrQuotaExceeded.
	ReadEvents(ctx context.Context, hub, group, partition string, from Position, opts *ReaderOptions) (Reader, error)
}

// Facts of Event Hubs.
const (
	// DefaultConsumerGroup exists in every hub.
	DefaultConsumerGroup = "$Default"
	// MaxBatch bounds the events of one send, in bytes (docs: Event Hubs quotas).
	MaxBatch = 1 << 20
	// MaxReaders bounds the readers without an owner level, for each consumer
	// group and partition.
	MaxReaders = 5
)

// Event is an event as it is sent.
type Event struct {
	Body          []byte // may alias Wire.Body
	MessageID     string
	CorrelationID string
	ContentType   string

	// PartitionKey is the key by which the partition was picked; nil without.
	PartitionKey *string

	// Properties are the sender's own, with values as in
	// servicebus.Message.ApplicationProperties.
	Properties map[string]any

	// Wire holds the sections as they came over AMQP; nil otherwise. The flags about
	// changes mean nothing here: an event does not change.
	Wire *messaging.Wire
}

// ReceivedEvent is an event as a reader returns it.
type ReceivedEvent struct {
	Event

	// SequenceNumber is unique in the partition, from 0, without gaps.
	SequenceNumber int64
	// Offset is a position in the partition, whose form is the service's business.
	Offset string
	// EnqueuedTime is in milliseconds, as clients are told it: behind the time of the last
	// event there is none.
	EnqueuedTime time.Time
}

// SendOptions say where events go.
type SendOptions struct {
	PartitionKey *string
	PartitionID  string // empty: as the key, or the service, has it
}

// ReaderOptions change how a reader works.
type ReaderOptions struct {
	// OwnerLevel is the reader's epoch; nil: none.
	OwnerLevel *int64
	// Name tells other readers which reader stands in their way; it may be empty.
	Name string
	// RealTime says that events go to a client that lives in real time: see
	// servicebus.ReceiverOptions.
	RealTime bool
}

// Position is where a reader begins: of its fields the first that is set
// counts, and the zero value is the beginning of the partition.
type Position struct {
	SequenceNumber *int64
	Offset         string
	EnqueuedTime   time.Time // events enqueued after it
	Latest         bool      // behind the last event

	// Inclusive begins with the event of that sequence number or offset, not behind it.
	Inclusive bool
}

// Reader reads one partition. Its methods may be called concurrently.
type Reader interface {
	// Receive returns up to n events in order, as soon as there is at least one. When
	// none has come within wait it returns none and no error; zero does not wait,
	// messaging.Forever waits until ctx ends. It fails with messaging.ErrReaderStolen once another
	// reader took over, with bindings.ErrNotFound once the hub is deleted, and with messaging.ErrClosed.
	Receive(ctx context.Context, n int, wait time.Duration) ([]*ReceivedEvent, error)

	// Close ends the reader; a Receive that waits fails. A second Close does nothing.
	Close(ctx context.Context) error
}

// Properties is what a hub says of itself.
type Properties struct {
	Name       string
	CreatedAt  time.Time
	Partitions []string // their IDs
}

// Partition is what a partition says of itself. An empty one has last values
// of -1, "-1" and the zero time, if it has never had an event.
type Partition struct {
	Hub, ID           string
	BeginningSequence int64 // of the oldest event that is kept
	LastSequence      int64
	LastOffset        string
	LastEnqueued      time.Time
	Empty             bool
}

// Source names a partition for a consumer group, as AMQP links do:
// "orders/ConsumerGroups/$Default/Partitions/0".
func Source(hub, group, partition string) string {
	return hub + "/ConsumerGroups/" + group + "/Partitions/" + partition
}

// Address is a link address of Event Hubs, taken apart.
type Address struct{ Hub, Group, Partition string }

// ParseAddress reads "hub", "hub/Partitions/p" and
// "hub/ConsumerGroups/g/Partitions/p". Words match without regard to case.
func ParseAddress(s string) (a Address, ok bool) {
	parts := strings.Split(strings.Trim(s, "/"), "/")
	word := func(i int, w string) bool { return strings.EqualFold(parts[i], w) }
	a.Hub = parts[0]
	switch {
	case len(parts) == 1:
	case len(parts) == 3 && word(1, "Partitions"):
		a.Partition = parts[2]
	case len(parts) == 5 && word(1, "ConsumerGroups") && word(3, "Partitions"):
		a.Group, a.Partition = parts[2], parts[4]
	default:
		return a, false
	}
	for _, p := range parts {
		if p == "" {
			return a, false
		}
	}
	return a, true
}

// EventsFrom returns the events for a value that a handler gives to an Event Hubs
// output binding, one for each element, as [servicebus.MessagesFrom] does.
func EventsFrom(v bindings.Value) ([]*Event, error) {
	bodies, err := bindings.MessagesFrom(v)
	if err != nil {
		return nil, err
	}
	out := make([]*Event, len(bodies))
	for i, body := range bodies {
		out[i] = &Event{Body: body}
	}
	return out, nil
}
