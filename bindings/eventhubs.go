package bindings

import (
	"context"
	"strings"
	"time"
)

// EventHubs is one Event Hubs namespace, as those see it who send and receive.
//
// Hubs, consumer groups and partitions are named without regard to case. All
// methods may be called concurrently. What the service refuses is a
// [*ServiceBusError]: both services report failures by AMQP conditions. errors.Is
// holds with the conditions of this package; a context's error passes unchanged;
// everything else is a failure of the transport. Bytes of bodies and wire sections
// are shared and not changed by anybody once they were sent.
//
// Reference: spec messaging 3.13 and 6; docs, Event Hubs features.
type EventHubs interface {
	// FullyQualifiedNamespace names the namespace in the checkpoint store:
	// "contoso.servicebus.windows.net", or the host of an emulator.
	FullyQualifiedNamespace() string

	// SendEvents adds events to one partition of a hub, all or none, in order:
	// the partition that opts names, the one that the hash of its partition key
	// picks, or else the next in turn. Nil options are the last. The events' own
	// PartitionKey is what readers see; SendEvents sets it to that of opts when opts
	// has one.
	//
	// It fails with ErrNotFound (hub or partition), ErrTooLarge (more than
	// [MaxEventBatch] bytes together) and ErrInvalidArgument (key and partition both,
	// or a key of more than MaxServiceBusID characters).
	SendEvents(ctx context.Context, hub string, opts *SendEventsOptions, events ...*Event) error

	// Hub returns what a hub says of itself, ErrNotFound if there is none.
	Hub(ctx context.Context, name string) (*EventHubProperties, error)

	// Partition returns what a partition says of itself.
	Partition(ctx context.Context, hub, partition string) (*EventPartition, error)

	// ReadEvents opens a reader of one partition for a consumer group, at a
	// position. Nil options are those of a reader without an epoch. It fails with
	// ErrNotFound when the hub does not exist or has no such group; every hub has
	// [DefaultConsumerGroup]. A number or an offset behind the last event's, or one that
	// the service cannot have made, is ErrInvalidArgument.
	//
	// Of readers with an owner level (an epoch) one consumer group has one in each
	// partition: a higher or equal level disconnects the readers that are there, a
	// lower one, and a reader without a level, is refused with ErrReaderStolen.
	// Of readers without a level there may be five; the next is ErrQuotaExceeded.
	ReadEvents(ctx context.Context, hub, group, partition string, from EventPosition, opts *EventReaderOptions) (EventReader, error)
}

// Facts of Event Hubs.
const (
	// DefaultConsumerGroup exists in every hub.
	DefaultConsumerGroup = "$Default"
	// MaxEventBatch bounds the events of one send, in bytes (docs: Event Hubs quotas).
	MaxEventBatch = 1 << 20
	// MaxEventReaders bounds the readers without an owner level, for each consumer
	// group and partition.
	MaxEventReaders = 5
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
	// ServiceBusMessage.ApplicationProperties.
	Properties map[string]any

	// Wire holds the sections as they came over AMQP; nil otherwise. The flags about
	// changes mean nothing here: an event does not change.
	Wire *ServiceBusWire
}

// ReceivedEvent is an event as a reader returns it.
type ReceivedEvent struct {
	Event

	// SequenceNumber is unique in the partition, from 0, without gaps.
	SequenceNumber int64
	// Offset is a position in the partition, whose form is the service's business.
	Offset       string
	EnqueuedTime time.Time
}

// SendEventsOptions say where events go.
type SendEventsOptions struct {
	PartitionKey *string
	PartitionID  string // empty: as the key, or the service, has it
}

// EventReaderOptions change how a reader works.
type EventReaderOptions struct {
	// OwnerLevel is the reader's epoch; nil: none.
	OwnerLevel *int64
	// Name is what others whom the reader stands in the way of are told; it may be empty.
	Name string
	// Outside says that events go to a client whose time is real: see
	// ServiceBusReceiverOptions.
	Outside bool
}

// EventPosition is where a reader begins: of its fields the first that is set
// counts, and the zero value is the beginning of the partition.
type EventPosition struct {
	SequenceNumber *int64
	Offset         string
	EnqueuedTime   time.Time // events enqueued after it
	Latest         bool      // behind the last event

	// Inclusive begins with the event of that sequence number or offset, not behind it.
	Inclusive bool
}

// EventReader reads one partition. Its methods may be called concurrently.
type EventReader interface {
	// Receive returns up to n events in order, as soon as there is at least one. When
	// none has come within wait it returns none and no error; zero does not wait,
	// ServiceBusForever waits until ctx ends. It fails with ErrReaderStolen once another
	// reader took over, with ErrNotFound once the hub is deleted, and with ErrClosed.
	Receive(ctx context.Context, n int, wait time.Duration) ([]*ReceivedEvent, error)

	// Close ends the reader; a Receive that waits fails. A second Close does nothing.
	Close(ctx context.Context) error
}

// EventHubProperties is what a hub says of itself.
type EventHubProperties struct {
	Name       string
	CreatedAt  time.Time
	Partitions []string // their IDs
}

// EventPartition is what a partition says of itself. An empty one has last values
// of -1, "-1" and the zero time, if it has never had an event.
type EventPartition struct {
	Hub, ID           string
	BeginningSequence int64 // of the oldest event that is kept
	LastSequence      int64
	LastOffset        string
	LastEnqueued      time.Time
	Empty             bool
}

// EventSource names a partition for a consumer group, as AMQP links do:
// "orders/ConsumerGroups/$Default/Partitions/0".
func EventSource(hub, group, partition string) string {
	return hub + "/ConsumerGroups/" + group + "/Partitions/" + partition
}

// EventAddress is a link address of Event Hubs, taken apart.
type EventAddress struct{ Hub, Group, Partition string }

// ParseEventAddress reads "hub", "hub/Partitions/p" and
// "hub/ConsumerGroups/g/Partitions/p". Words match without regard to case.
func ParseEventAddress(s string) (a EventAddress, ok bool) {
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
// output binding, one for each element, as [ServiceBusMessagesFrom] does.
func EventsFrom(v Value) ([]*Event, error) {
	bodies, err := QueueMessagesFrom(v)
	if err != nil {
		return nil, err
	}
	out := make([]*Event, len(bodies))
	for i, body := range bodies {
		out[i] = &Event{Body: body}
	}
	return out, nil
}
