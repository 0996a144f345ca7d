package servicebus_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

func key(s string) *string { return &s }

func partitioned(on bool) servicebusapi.Echoed {
	return servicebusapi.Echoed{EnablePartitioning: &on}
}

// A message belongs to one partition: the partition of its session, which its
// partition key has to name if there is one. All keys have their limit.
func TestPartitionKeyIsTheSession(t *testing.T) {
	t.Parallel()
	long := key(strings.Repeat("k", 129))
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	for name, test := range map[string]struct {
		m    servicebusapi.Message
		want error
	}{
		"one value":                      {servicebusapi.Message{SessionID: key("a"), PartitionKey: key("a")}, nil},
		"two values":                     {servicebusapi.Message{SessionID: key("a"), PartitionKey: key("b")}, messaging.ErrNotAllowed},
		"two values, one empty":          {servicebusapi.Message{SessionID: key(""), PartitionKey: key("b")}, messaging.ErrNotAllowed},
		"long partition key":             {servicebusapi.Message{PartitionKey: long}, bindings.ErrOutOfRange},
		"long transaction partition key": {servicebusapi.Message{TransactionPartitionKey: long}, bindings.ErrOutOfRange},
		"long reply-to session":          {servicebusapi.Message{ReplyToSessionID: long}, bindings.ErrOutOfRange},
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
	b.queue(servicebusapi.Queue{Name: "q", RequiresDuplicateDetection: true, Echoed: partitioned(true)})
	for _, session := range []string{"1", "2", "1"} {
		b.do(func(ctx context.Context) error {
			return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "id", SessionID: &session})
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
	b.queue(servicebusapi.Queue{Name: "q", Echoed: partitioned(true)})
	b.queue(servicebusapi.Queue{Name: "ids", RequiresDuplicateDetection: true, Echoed: partitioned(true)})
	b.queue(servicebusapi.Queue{Name: "other", Echoed: partitioned(true)})
	b.queue(servicebusapi.Queue{Name: "plain"})
	type sent struct {
		entity string
		m      servicebusapi.Message
	}
	for name, test := range map[string]struct {
		sends []sent
		want  error // of the last
	}{
		"no key":                {[]sent{{"q", servicebusapi.Message{MessageID: "1"}}}, messaging.ErrNotAllowed},
		"one key":               {[]sent{{"q", servicebusapi.Message{PartitionKey: key("a")}}, {"q", servicebusapi.Message{SessionID: key("a")}}}, nil},
		"two keys":              {[]sent{{"q", servicebusapi.Message{PartitionKey: key("a")}}, {"q", servicebusapi.Message{PartitionKey: key("b")}}}, messaging.ErrNotAllowed},
		"two sessions":          {[]sent{{"q", servicebusapi.Message{SessionID: key("a")}}, {"q", servicebusapi.Message{SessionID: key("b")}}}, messaging.ErrNotAllowed},
		"message ids":           {[]sent{{"ids", servicebusapi.Message{MessageID: "1"}}, {"ids", servicebusapi.Message{MessageID: "2"}}}, messaging.ErrNotAllowed},
		"through":               {[]sent{{"q", servicebusapi.Message{PartitionKey: key("a")}}, {"other", servicebusapi.Message{PartitionKey: key("b"), TransactionPartitionKey: key("a")}}}, nil},
		"through, two keys":     {[]sent{{"q", servicebusapi.Message{PartitionKey: key("a")}}, {"other", servicebusapi.Message{PartitionKey: key("a"), TransactionPartitionKey: key("b")}}}, messaging.ErrNotAllowed},
		"through what is plain": {[]sent{{"plain", servicebusapi.Message{}}, {"other", servicebusapi.Message{PartitionKey: key("a")}}, {"q", servicebusapi.Message{}}}, nil},
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
	b.queue(servicebusapi.Queue{Name: "q", Echoed: partitioned(true)})
	b.do(func(ctx context.Context) error {
		_, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"})
		return err
	})
	b.fails("queue", bindings.ErrInvalidArgument, func(ctx context.Context) error {
		_, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "q", Echoed: partitioned(false)})
		return err
	})
	b.fails("topic", bindings.ErrInvalidArgument, func(ctx context.Context) error {
		_, err := b.ns.UpdateTopic(ctx, servicebusapi.Topic{Name: "t", Echoed: partitioned(true)})
		return err
	})
	b.do(func(ctx context.Context) error {
		q, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "q", MaxDeliveryCount: 3})
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
