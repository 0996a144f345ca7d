package azure

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// EventHubs is a namespace of Azure Event Hubs, reached over AMQP. Its methods may
// be called concurrently. Close it: clients and readers have connections.
//
// Three things differ from the embedded namespace. ReadEvents waits up to a second
// for the service to refuse the reader; Receive reports a later refusal. An
// event's own PartitionKey and wire sections are not sent: the key comes from the
// options. An event without a message id gets one from the client.
type EventHubs struct {
	host    string // without a port
	clients hubClients
	line    line
	retries int

	mu        sync.Mutex
	closed    bool
	producers *recent[*azeventhubs.ProducerClient] // by hub in lower case
	consumers map[consumerKey]*azeventhubs.ConsumerClient
	readers   map[*eventReader]struct{} // open
}

var _ eventhubs.Namespace = (*EventHubs)(nil)

// hubClients make clients of the SDK, by a connection string or an identity. They
// send nothing.
type hubClients struct {
	producer func(hub string) (*azeventhubs.ProducerClient, error)
	consumer func(key consumerKey) (*azeventhubs.ConsumerClient, error)
}

// consumerKey names a consumer client: it serves readers of one name.
type consumerKey struct{ hub, group, name string }

// NewEventHubs returns the namespace of a connection string. With
// UseDevelopmentEmulator=true it is an emulator's, without TLS. Hubs are named in
// calls: an EntityPath says only what the key is for. Nothing is sent before the
// first call. Of the options Retries and Call count.
func NewEventHubs(connectionString string, opts *Options) (*EventHubs, error) {
	said, err := azeventhubs.ParseConnectionString(connectionString)
	if err != nil {
		return nil, fmt.Errorf("event hubs connection string: %w", err)
	}
	connection := withoutField(connectionString, "EntityPath")
	return newEventHubs(hostOf(said), opts, hubClients{
		func(hub string) (*azeventhubs.ProducerClient, error) {
			return azeventhubs.NewProducerClientFromConnectionString(connection, hub, &azeventhubs.ProducerClientOptions{RetryOptions: opts.eventHubs()})
		},
		func(k consumerKey) (*azeventhubs.ConsumerClient, error) {
			return azeventhubs.NewConsumerClientFromConnectionString(connection, k.hub, k.group, k.options())
		},
	}), nil
}

// NewEventHubsWithIdentity returns the namespace of an identity-based connection.
// Nothing is sent before the first call.
func NewEventHubsWithIdentity(id *Identity, opts *Options) (*EventHubs, error) {
	cred, err := id.credentialAt(id.Namespace, "fullyQualifiedNamespace", opts)
	if err != nil {
		return nil, err
	}
	return newEventHubs(id.Namespace, opts, hubClients{
		func(hub string) (*azeventhubs.ProducerClient, error) {
			return azeventhubs.NewProducerClient(id.Namespace, hub, cred, &azeventhubs.ProducerClientOptions{RetryOptions: opts.eventHubs()})
		},
		func(k consumerKey) (*azeventhubs.ConsumerClient, error) {
			return azeventhubs.NewConsumerClient(id.Namespace, k.hub, k.group, cred, k.options())
		},
	}), nil
}

func newEventHubs(host string, opts *Options, clients hubClients) *EventHubs {
	return &EventHubs{
		host: host, clients: clients, line: line{opts: opts}, retries: opts.readerRetries(), producers: newRecent(recentLimit, func(p *azeventhubs.ProducerClient) { _ = closeSoon(context.Background(), p.Close) }),
		consumers: map[consumerKey]*azeventhubs.ConsumerClient{}, readers: map[*eventReader]struct{}{},
	}
}

func (o *Options) eventHubs() (out azeventhubs.RetryOptions) {
	out.RetryDelay = messagingRetryDelay
	if o != nil {
		out.MaxRetries = int32(o.Retries)
	}
	return out
}

// options are the options of a consumer client. It does not repeat: whether
// that helps its readers know better (see eventReader.first).
func (k consumerKey) options() *azeventhubs.ConsumerClientOptions {
	return &azeventhubs.ConsumerClientOptions{InstanceID: k.name, RetryOptions: azeventhubs.RetryOptions{MaxRetries: -1}}
}

// withoutField leaves a field out of a connection string.
func withoutField(connection, name string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(connection, ";"), func(field string) bool {
		given, _, _ := strings.Cut(field, "=")
		return strings.EqualFold(given, name)
	}), ";")
}

// hostOf is the host name of a namespace, without a port, as the platform writes it. An
// emulator on this machine is "localhost" at each of its addresses, because its clients
// have one checkpoint store whichever they use.
func hostOf(said azeventhubs.ConnectionStringProperties) string {
	host := (&url.URL{Host: said.FullyQualifiedNamespace}).Hostname()
	if ip, err := netip.ParseAddr(host); said.Emulator && err == nil && ip.IsLoopback() {
		return "localhost"
	}
	return host
}

// FullyQualifiedNamespace implements eventhubs.Namespace.
func (h *EventHubs) FullyQualifiedNamespace() string { return h.host }

// Close ends the readers and the connections, within a few seconds if the service does
// not answer. Every call fails from now on.
func (h *EventHubs) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	h.mu.Lock()
	h.closed = true
	readers := slices.Collect(maps.Keys(h.readers))
	h.mu.Unlock()
	for _, r := range readers {
		_ = r.close(ctx) // the connection ends anyway
	}
	var first error
	for _, p := range h.producers.all() { // they do not grow any more
		if err := p.Close(ctx); err != nil && first == nil {
			first = err
		}
	}
	for _, c := range h.consumers {
		if err := c.Close(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// kept returns what a namespace has under a key, made when it is asked for first.
func kept[K comparable, C any](h *EventHubs, known map[K]C, key K, open func() (C, error)) (c C, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return c, messaging.ErrClosed
	}
	if c, ok := known[key]; ok {
		return c, nil
	}
	if c, err = open(); err == nil {
		known[key] = c
	}
	return c, err
}

// produce makes a call with the client that sends to a hub.
func (h *EventHubs) produce(ctx context.Context, hub string, f func(ctx context.Context, client *azeventhubs.ProducerClient) error) error {
	if err := h.open(); err != nil {
		return err
	}
	return h.line.call(ctx, func(ctx context.Context) error {
		client, leave, err := h.producers.use(strings.ToLower(hub), func() (*azeventhubs.ProducerClient, error) {
			if err := h.open(); err != nil { // else Close has not looked for it yet
				return nil, err
			}
			return h.clients.producer(hub)
		})
		if err != nil {
			return err
		}
		defer leave()
		return translateHub(ctx, f(ctx, client))
	})
}

// open fails once the namespace is closed.
func (h *EventHubs) open() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return messaging.ErrClosed
	}
	return nil
}

func (h *EventHubs) consumer(hub, group, name string) (*azeventhubs.ConsumerClient, error) {
	key := consumerKey{strings.ToLower(hub), strings.ToLower(group), name}
	return kept(h, h.consumers, key, func() (*azeventhubs.ConsumerClient, error) { return h.clients.consumer(consumerKey{hub, group, name}) })
}

// SendEvents implements eventhubs.Namespace. The events go as one message.
func (h *EventHubs) SendEvents(ctx context.Context, hub string, opts *eventhubs.SendOptions, events ...*eventhubs.Event) error {
	to := &azeventhubs.EventDataBatchOptions{}
	if opts != nil {
		to.PartitionKey, to.PartitionID = opts.PartitionKey, given(opts.PartitionID)
	}
	switch {
	case to.PartitionKey != nil && to.PartitionID != nil:
		return messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf("event hub %q: a partition key and a partition exclude each other", hub))
	case to.PartitionKey != nil && utf8.RuneCountInString(*to.PartitionKey) > messaging.MaxID:
		return messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf("event hub %q: a partition key has at most %d characters", hub, messaging.MaxID))
	}
	list, err := outgoingEvents(events)
	if err != nil || len(list) == 0 {
		return err
	}
	return h.produce(ctx, hub, func(ctx context.Context, client *azeventhubs.ProducerClient) error {
		batch, err := client.NewEventDataBatch(ctx, to)
		for _, e := range list {
			if err == nil {
				err = batch.AddEventData(e, nil)
			}
		}
		if err == nil {
			err = client.SendEventDataBatch(ctx, batch, nil)
		}
		return err
	})
}

// Hub implements eventhubs.Namespace.
func (h *EventHubs) Hub(ctx context.Context, name string) (*eventhubs.Properties, error) {
	var p azeventhubs.EventHubProperties
	err := h.produce(ctx, name, func(ctx context.Context, client *azeventhubs.ProducerClient) (err error) {
		p, err = client.GetEventHubProperties(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &eventhubs.Properties{Name: p.Name, CreatedAt: p.CreatedOn.UTC(), Partitions: p.PartitionIDs}, nil
}

// Partition implements eventhubs.Namespace.
func (h *EventHubs) Partition(ctx context.Context, hub, partition string) (*eventhubs.Partition, error) {
	var p azeventhubs.PartitionProperties
	err := h.produce(ctx, hub, func(ctx context.Context, client *azeventhubs.ProducerClient) (err error) {
		p, err = abandoned(ctx, func() (azeventhubs.PartitionProperties, error) {
			return client.GetPartitionProperties(ctx, partition, nil)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &eventhubs.Partition{
		Hub: p.EventHubName, ID: p.PartitionID, BeginningSequence: p.BeginningSequenceNumber, Empty: p.IsEmpty,
		LastSequence: p.LastEnqueuedSequenceNumber, LastOffset: p.LastEnqueuedOffset,
	}
	if out.LastSequence >= 0 {
		out.LastEnqueued = p.LastEnqueuedOn.UTC()
	}
	return out, nil
}

// abandoned makes a call that does not heed its context in all it does. It may go on
// when ctx has ended, until the answer comes or the connection is closed.
func abandoned[T any](ctx context.Context, call func() (T, error)) (v T, err error) {
	type answer struct {
		v   T
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		v, err := call()
		answered <- answer{v, err}
	}()
	select {
	case a := <-answered:
		return a.v, a.err
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// ReadEvents implements eventhubs.Namespace.
func (h *EventHubs) ReadEvents(ctx context.Context, hub, group, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (eventhubs.Reader, error) {
	if err := h.line.ask(ctx, func(ctx context.Context) error { _, err := h.Partition(ctx, hub, partition); return err }); err != nil {
		return nil, err
	}
	var o eventhubs.ReaderOptions
	if opts != nil {
		o = *opts
	}
	start, err := h.start(ctx, hub, partition, from)
	if err != nil {
		return nil, err
	}
	client, err := h.consumer(hub, group, o.Name)
	if err != nil {
		return nil, err
	}
	link, err := client.NewPartitionClient(partition, &azeventhubs.PartitionClientOptions{StartPosition: start, OwnerLevel: o.OwnerLevel})
	if err != nil {
		return nil, err
	}
	r := newEventReader(h, link)
	if !h.keep(r) {
		return nil, messaging.ErrClosed
	}
	err = h.line.call(ctx, func(ctx context.Context) error {
		err := r.open(ctx)
		if err != nil {
			_ = r.close(context.WithoutCancel(ctx)) // the first error says more
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// keep remembers an open reader; false: the namespace is closed.
func (h *EventHubs) keep(r *eventReader) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.readers[r] = struct{}{}
	}
	return !h.closed
}

func (h *EventHubs) forget(r *eventReader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

// start is a position as the client has it. The end is asked for now: the link may
// come to be later, and events in between would be lost.
func (h *EventHubs) start(ctx context.Context, hub, partition string, from eventhubs.Position) (s azeventhubs.StartPosition, err error) {
	const beginning = "-1"
	yes := true
	switch {
	case from.SequenceNumber != nil:
		s.SequenceNumber, s.Inclusive = from.SequenceNumber, from.Inclusive
	case from.Offset != "" && from.Offset != beginning:
		s.Offset, s.Inclusive = &from.Offset, from.Inclusive
	case from.Offset == "" && !from.EnqueuedTime.IsZero():
		s.EnqueuedTime = &from.EnqueuedTime
	case from.Offset == "" && from.Latest:
		p, err := h.Partition(ctx, hub, partition)
		if err != nil {
			return s, err
		}
		if p.LastSequence >= 0 {
			s.SequenceNumber = &p.LastSequence
			break
		}
		s.Earliest = &yes
	default:
		s.Earliest = &yes
	}
	return s, nil
}
