package servicebus_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

func key(s string) *string { return &s }

func partitioned(on bool) bindings.ServiceBusEchoed {
	return bindings.ServiceBusEchoed{EnablePartitioning: &on}
}

// A message belongs to one partition: that of its session, which its partition key has
// to name if there is one. All keys have their limit.
func TestPartitionKeyIsTheSession(t *testing.T) {
	t.Parallel()
	long := key(strings.Repeat("k", 129))
	b := newBench(t, servicebus.Options{})
	b.queue(bindings.ServiceBusQueue{Name: "q"})
	for name, test := range map[string]struct {
		m    bindings.ServiceBusMessage
		want error
	}{
		"one value":                      {bindings.ServiceBusMessage{SessionID: key("a"), PartitionKey: key("a")}, nil},
		"two values":                     {bindings.ServiceBusMessage{SessionID: key("a"), PartitionKey: key("b")}, bindings.ErrNotAllowed},
		"two values, one empty":          {bindings.ServiceBusMessage{SessionID: key(""), PartitionKey: key("b")}, bindings.ErrNotAllowed},
		"long partition key":             {bindings.ServiceBusMessage{PartitionKey: long}, bindings.ErrOutOfRange},
		"long transaction partition key": {bindings.ServiceBusMessage{TransactionPartitionKey: long}, bindings.ErrOutOfRange},
		"long reply-to session":          {bindings.ServiceBusMessage{ReplyToSessionID: long}, bindings.ErrOutOfRange},
	} {
		b.fails(name, test.want, func(ctx context.Context) error { return b.ns.Send(ctx, "q", &test.m) })
	}
	if n := len(b.there("q")); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

// The partition of a session's messages belongs to what duplicate detection compares.
func TestDuplicatesBySession(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(bindings.ServiceBusQueue{Name: "q", RequiresDuplicateDetection: true, ServiceBusEchoed: partitioned(true)})
	for _, session := range []string{"1", "2", "1"} {
		b.do(func(ctx context.Context) error {
			return b.ns.Send(ctx, "q", &bindings.ServiceBusMessage{MessageID: "id", SessionID: &session})
		})
	}
	if n := len(b.there("q")); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
}

// A transaction of a partitioned entity stays in one partition.
func TestTransactionInOnePartition(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(bindings.ServiceBusQueue{Name: "q", ServiceBusEchoed: partitioned(true)})
	b.queue(bindings.ServiceBusQueue{Name: "ids", RequiresDuplicateDetection: true, ServiceBusEchoed: partitioned(true)})
	b.queue(bindings.ServiceBusQueue{Name: "other", ServiceBusEchoed: partitioned(true)})
	b.queue(bindings.ServiceBusQueue{Name: "plain"})
	type sent struct {
		entity string
		m      bindings.ServiceBusMessage
	}
	for name, test := range map[string]struct {
		sends []sent
		want  error // of the last
	}{
		"no key":                {[]sent{{"q", bindings.ServiceBusMessage{MessageID: "1"}}}, bindings.ErrNotAllowed},
		"one key":               {[]sent{{"q", bindings.ServiceBusMessage{PartitionKey: key("a")}}, {"q", bindings.ServiceBusMessage{SessionID: key("a")}}}, nil},
		"two keys":              {[]sent{{"q", bindings.ServiceBusMessage{PartitionKey: key("a")}}, {"q", bindings.ServiceBusMessage{PartitionKey: key("b")}}}, bindings.ErrNotAllowed},
		"two sessions":          {[]sent{{"q", bindings.ServiceBusMessage{SessionID: key("a")}}, {"q", bindings.ServiceBusMessage{SessionID: key("b")}}}, bindings.ErrNotAllowed},
		"message ids":           {[]sent{{"ids", bindings.ServiceBusMessage{MessageID: "1"}}, {"ids", bindings.ServiceBusMessage{MessageID: "2"}}}, bindings.ErrNotAllowed},
		"through":               {[]sent{{"q", bindings.ServiceBusMessage{PartitionKey: key("a")}}, {"other", bindings.ServiceBusMessage{PartitionKey: key("b"), TransactionPartitionKey: key("a")}}}, nil},
		"through, two keys":     {[]sent{{"q", bindings.ServiceBusMessage{PartitionKey: key("a")}}, {"other", bindings.ServiceBusMessage{PartitionKey: key("a"), TransactionPartitionKey: key("b")}}}, bindings.ErrNotAllowed},
		"through what is plain": {[]sent{{"plain", bindings.ServiceBusMessage{}}, {"other", bindings.ServiceBusMessage{PartitionKey: key("a")}}, {"q", bindings.ServiceBusMessage{}}}, nil},
	} {
		tx := b.begin()
		for i, s := range test.sends {
			want := test.want
			if i < len(test.sends)-1 {
				want = nil
			}
			b.fails(name, want, func(ctx context.Context) error { return tx.Send(ctx, s.entity, true, &s.m) })
		}
		b.do(tx.Rollback)
	}
}

// Partitions are decided at creation; an update that does not name them keeps them.
func TestPartitionsAreFixed(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(bindings.ServiceBusQueue{Name: "q", ServiceBusEchoed: partitioned(true)})
	b.do(func(ctx context.Context) error {
		_, err := b.ns.CreateTopic(ctx, bindings.ServiceBusTopic{Name: "t"})
		return err
	})
	b.fails("queue", bindings.ErrInvalidArgument, func(ctx context.Context) error {
		_, err := b.ns.UpdateQueue(ctx, bindings.ServiceBusQueue{Name: "q", ServiceBusEchoed: partitioned(false)})
		return err
	})
	b.fails("topic", bindings.ErrInvalidArgument, func(ctx context.Context) error {
		_, err := b.ns.UpdateTopic(ctx, bindings.ServiceBusTopic{Name: "t", ServiceBusEchoed: partitioned(true)})
		return err
	})
	b.do(func(ctx context.Context) error {
		q, err := b.ns.UpdateQueue(ctx, bindings.ServiceBusQueue{Name: "q", MaxDeliveryCount: 3})
		if err == nil && !*q.EnablePartitioning {
			t.Error("the update took the partitions away")
		}
		return err
	})
}

func (b *bench) fails(name string, want error, f func(ctx context.Context) error) {
	b.Helper()
	b.clk.Do("test", func() {
		if err := f(context.Background()); !errors.Is(err, want) {
			b.Errorf("%s: got %v, want %v", name, err, want)
		}
	})
}
