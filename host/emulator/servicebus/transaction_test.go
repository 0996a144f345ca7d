package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// begun is a transaction of a bench.
type begun struct {
	*bench
	servicebusapi.Transaction
}

func (b *bench) begin() *begun {
	b.Helper()
	t := &begun{bench: b}
	b.do(func(ctx context.Context) (err error) {
		t.Transaction, err = b.ns.Begin(ctx, "")
		return err
	})
	return t
}

// does expects a call to come to want.
func (t *begun) does(want error, f func(ctx context.Context) error) {
	t.Helper()
	t.clk.Do("test", func() {
		if err := f(context.Background()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}

func (t *begun) sends(want error, entity string, through bool, ids ...string) {
	t.Helper()
	t.does(want, func(ctx context.Context) error {
		var messages []*servicebusapi.Message
		for _, id := range ids {
			messages = append(messages, &servicebusapi.Message{MessageID: id})
		}
		return t.Send(ctx, entity, through, messages...)
	})
}

func (t *begun) settles(want error, source string, action servicebusapi.Action, m *servicebusapi.Received) {
	t.Helper()
	t.does(want, func(ctx context.Context) error {
		return t.Settle(ctx, source, servicebusapi.Settlement{Action: action}, m.LockToken)
	})
}

func (t *begun) commits(want error) { t.Helper(); t.does(want, t.Commit) }

// there are the messages of sources: "source id state count".
func (b *bench) there(sources ...string) []string {
	b.Helper()
	var out []string
	b.do(func(ctx context.Context) error {
		for _, source := range sources {
			list, err := b.ns.Peek(ctx, source, nil, 0, 100)
			if err != nil {
				return err
			}
			for _, m := range list {
				out = append(out, fmt.Sprintf("%s %s %v %d", source, m.MessageID, m.State, m.DeliveryCount))
			}
		}
		return nil
	})
	return out
}

// prepared is a queue q of which a, b and c are locked, and a transaction that
// dead-letters the first, completes the second, defers the third and sends and
// schedules two more.
func prepared(t *testing.T, opts servicebus.Options) (*bench, servicebusapi.Receiver, *begun) {
	t.Helper()
	b := newBench(t, opts)
	b.queue(servicebusapi.Queue{Name: "q"})
	b.send("q", "a", "b", "c")
	r := b.receiver("q", nil)
	ms := b.receive(r, 3)
	tx := b.begin()
	tx.settles(nil, "q", servicebusapi.DeadLetter, ms[0])
	tx.settles(nil, "q", servicebusapi.Complete, ms[1])
	tx.settles(nil, "q", servicebusapi.Defer, ms[2])
	tx.sends(nil, "q", false, "d")
	tx.does(nil, func(ctx context.Context) error {
		numbers, err := tx.ScheduleEach(ctx, "Q", false, &servicebusapi.Message{MessageID: "e", ScheduledEnqueueTime: b.clk.Now().Add(time.Hour)})
		if err == nil && !cmp.Equal(numbers, []int64{4}) {
			err = fmt.Errorf("numbers %v", numbers)
		}
		return err
	})
	if diff := cmp.Diff([]string{"q a active 0", "q b active 0", "q c active 0"}, b.there("q", "q/$DeadLetterQueue")); diff != "" {
		t.Errorf("before the end (-want +got):\n%s", diff)
	}
	return b, r, tx
}

func TestTransactionCommits(t *testing.T) {
	t.Parallel()
	b, _, tx := prepared(t, servicebus.Options{})
	tx.commits(nil)
	want := []string{"q c deferred 1", "q e scheduled 0", "q d active 0", "q/$DeadLetterQueue a active 0"}
	if diff := cmp.Diff(want, b.there("q", "q/$DeadLetterQueue")); diff != "" {
		t.Errorf("after the commit (-want +got):\n%s", diff)
	}
	tx.commits(messaging.ErrRolledBack)
	tx.does(messaging.ErrRolledBack, tx.Rollback)
	tx.sends(messaging.ErrRolledBack, "q", false, "f")
}

// A transaction that is rolled back has done nothing: locks are as before, and end
// when they would have ended.
func TestTransactionRollsBack(t *testing.T) {
	t.Parallel()
	b, r, tx := prepared(t, servicebus.Options{})
	tx.does(nil, tx.Rollback)
	if diff := cmp.Diff([]string{"q a active 0", "q b active 0", "q c active 0"}, b.there("q", "q/$DeadLetterQueue")); diff != "" {
		t.Errorf("after the rollback (-want +got):\n%s", diff)
	}
	b.clk.Advance(time.Minute)
	if got := b.receive(r, 3); got[0].DeliveryCount != 1 {
		t.Errorf("delivery count %d after the lock has ended, want 1", got[0].DeliveryCount)
	}
}

// A transaction that is left open is rolled back after two minutes.
func TestTransactionTimeout(t *testing.T) {
	t.Parallel()
	b, r, tx := prepared(t, servicebus.Options{})
	b.clk.Advance(servicebusapi.TransactionTimeout - time.Second)
	b.do(func(ctx context.Context) error {
		ms, err := r.Receive(ctx, 3, 0)
		if err == nil && len(ms) != 0 {
			err = fmt.Errorf("%d messages came back while the transaction was open", len(ms))
		}
		return err
	})
	b.clk.Advance(time.Second)
	b.receive(r, 3)
	tx.commits(messaging.ErrTimeout)
	if diff := cmp.Diff([]string{"q a active 1", "q b active 1", "q c active 1"}, b.there("q", "q/$DeadLetterQueue")); diff != "" {
		t.Errorf("after the time-out (-want +got):\n%s", diff)
	}
	want := "2m0s transaction_ended q  0 rolled_back"
	if got := b.records[len(b.records)-4]; got != want {
		t.Errorf("record %q, want %q", got, want)
	}
}

// One call that is refused, and the transaction can only be rolled back.
func TestTransactionOfARefusedCall(t *testing.T) {
	t.Parallel()
	other := func(b *bench) { b.queue(servicebusapi.Queue{Name: "other"}); b.send("other", "x") }
	for name, refuse := range map[string]func(b *bench, tx *begun){
		"another entity": func(b *bench, tx *begun) { other(b); tx.sends(messaging.ErrRolledBack, "other", false, "y") },
		"a settlement elsewhere": func(b *bench, tx *begun) {
			other(b)
			tx.settles(messaging.ErrRolledBack, "other", servicebusapi.Complete, b.receive(b.receiver("other", nil), 1)[0])
		},
		"no such entity": func(_ *bench, tx *begun) { tx.sends(bindings.ErrNotFound, "nobody", true, "y") },
		"no such lock": func(_ *bench, tx *begun) {
			tx.settles(messaging.ErrLockLost, "q", servicebusapi.Complete, &servicebusapi.Received{LockToken: bindings.GUID{1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, tx := prepared(t, servicebus.Options{})
			refuse(b, tx)
			tx.commits(messaging.ErrRolledBack)
			if diff := cmp.Diff([]string{"q a active 0", "q b active 0", "q c active 0"}, b.there("q", "q/$DeadLetterQueue")); diff != "" {
				t.Errorf("after the commit (-want +got):\n%s", diff)
			}
		})
	}
}

// A message that a transaction settles cannot be settled otherwise; its loss by
// other means rolls the transaction back.
func TestTransactionHoldsItsMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	b.queue(servicebusapi.Queue{Name: "sessions", RequiresSession: true, LockDuration: time.Minute})
	b.send("q", "a")
	r := b.receiver("q", nil)
	m := b.receive(r, 1)[0]
	tx := b.begin()
	tx.settles(nil, "q", servicebusapi.Complete, m)
	tx.does(messaging.ErrNotAllowed, func(ctx context.Context) error { return r.Complete(ctx, m) })
	second := b.begin()
	second.settles(messaging.ErrLockLost, "q", servicebusapi.Abandon, m)
	second.commits(messaging.ErrRolledBack)
	tx.does(nil, func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err })
	tx.commits(nil)

	id := "s"
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "sessions", &servicebusapi.Message{MessageID: "a", SessionID: &id})
	})
	var held []*servicebusapi.Received
	b.do(func(ctx context.Context) error {
		s, err := b.ns.AcceptSession(ctx, "sessions", &servicebusapi.SessionOptions{SessionID: &id})
		if err != nil {
			return err
		}
		held, err = s.Receive(ctx, 1, 0)
		return err
	})
	tx = b.begin()
	tx.settles(nil, "sessions", servicebusapi.Complete, held[0])
	b.clk.Advance(time.Minute) // the session's lock ends
	tx.commits(messaging.ErrRolledBack)
	if diff := cmp.Diff([]string{"sessions a active 1"}, b.there("q", "sessions")); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
}

// Sends go further through the first entity; a transfer that finds its target
// disabled or full rests in that entity's transfer dead-letter queue, one whose target
// is gone fails the transaction.
func TestTransactionAcrossEntities(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*bench, *begun) {
		b := newBench(t, servicebus.Options{})
		b.queue(servicebusapi.Queue{Name: "a"})
		b.queue(servicebusapi.Queue{Name: "b"})
		b.send("a", "1")
		tx := b.begin()
		tx.settles(nil, "a", servicebusapi.Complete, b.receive(b.receiver("a", nil), 1)[0])
		tx.sends(nil, "b", true, "2")
		return b, tx
	}
	all := []string{"a", "a/$Transfer/$DeadLetterQueue", "b"}
	t.Run("arrives", func(t *testing.T) {
		t.Parallel()
		b, tx := start(t)
		tx.commits(nil)
		if diff := cmp.Diff([]string{"b 2 active 0"}, b.there(all...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("disabled", func(t *testing.T) {
		t.Parallel()
		b, tx := start(t)
		b.do(func(ctx context.Context) error {
			q, err := b.ns.GetQueue(ctx, "b")
			if err == nil {
				q.Status = servicebusapi.StatusSendDisabled
				_, err = b.ns.UpdateQueue(ctx, q.Queue)
			}
			return err
		})
		tx.commits(nil)
		if diff := cmp.Diff([]string{"a/$Transfer/$DeadLetterQueue 2 active 0"}, b.there(all...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		b, tx := start(t)
		b.do(func(ctx context.Context) error { return b.ns.DeleteQueue(ctx, "b") })
		tx.commits(messaging.ErrRolledBack)
		if diff := cmp.Diff([]string{"a 1 active 0"}, b.there(all[:2]...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A transaction does not reach into the state that follows its own.
func TestTransactionOfAReplacedState(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(b *bench) error{
		"reset": func(b *bench) error { return b.ns.Reset() },
		"load": func(b *bench) error {
			image, err := b.ns.Snapshot()
			if err != nil {
				return err
			}
			return b.ns.Load(image)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, tx := prepared(t, servicebus.Options{})
			only := b.begin()
			only.sends(nil, "q", false, "f")
			b.do(func(context.Context) error { return replace(b) })
			if name == "reset" {
				b.queue(servicebusapi.Queue{Name: "q"})
			}
			ended := func() (n int) {
				for _, r := range b.records {
					if strings.Contains(r, "transaction_ended") {
						n++
					}
				}
				return n
			}
			// Both ended with their state: what follows has none of their time-outs. A reset
			// is the beginning of the records too.
			if got, want := ended(), map[string]int{"reset": 0, "load": 2}[name]; got != want {
				t.Errorf("%d transactions are told to have ended, want %d: %q", got, want, b.records)
			}
			if only.Open() || tx.Open() {
				t.Error("a transaction of the old state is said to be open")
			}
			told := ended()
			b.clk.Advance(servicebusapi.TransactionTimeout)
			if got := ended(); got != told {
				t.Errorf("%d transactions were told to have ended after their time-out", got-told)
			}
			before := b.there("q")
			only.sends(messaging.ErrRolledBack, "q", false, "g")
			only.commits(messaging.ErrRolledBack)
			tx.commits(messaging.ErrRolledBack)
			if diff := cmp.Diff(before, b.there("q")); diff != "" {
				t.Errorf("after the commits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransactionOfTooManyMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	tx := b.begin()
	tx.sends(nil, "q", false, make([]string, 100)...)
	tx.sends(messaging.ErrQuotaExceeded, "q", false, "one more")
	tx.commits(messaging.ErrRolledBack)
}

// Bytes bound the messages of open transactions, of each and of all; an ended one
// makes room.
func TestTransactionOfTooManyBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q", MaxMessageSizeInKilobytes: servicebusapi.MaxMessageSizeLimit})
	large := &servicebusapi.Message{Body: make([]byte, 90<<20)}
	sends := func(tx *begun, want error) {
		t.Helper()
		tx.does(want, func(ctx context.Context) error { return tx.Send(ctx, "q", false, large) })
	}
	first, second, third := b.begin(), b.begin(), b.begin()
	sends(first, nil)
	sends(first, messaging.ErrQuotaExceeded) // more than one transaction may hold
	sends(second, nil)
	sends(third, messaging.ErrQuotaExceeded) // more than all may hold
	b.clk.Advance(servicebusapi.TransactionTimeout - time.Second)
	again := b.begin()
	sends(again, messaging.ErrQuotaExceeded)
	b.clk.Advance(time.Second) // the first three time out
	for range 2 {
		tx := b.begin()
		sends(tx, nil)
		tx.does(nil, tx.Rollback)
	}
	for range 2 {
		sends(b.begin(), nil)
	}
	sends(b.begin(), messaging.ErrQuotaExceeded)
	b.do(func(context.Context) error { return b.ns.Reset() })
	b.queue(servicebusapi.Queue{Name: "q", MaxMessageSizeInKilobytes: servicebusapi.MaxMessageSizeLimit})
	sends(b.begin(), nil)
}

// A process that is killed leaves all of a transaction or nothing: it is one change of
// the store, which does not exist before its commit.
func TestTransactionIsOneChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	db := openMemory(t, &store.Options{Sync: true})
	open := func() {
		ns, err := servicebus.Open(b.clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ns = ns
	}
	open()
	b.queue(servicebusapi.Queue{Name: "q"})
	b.send("q", "a")
	tx := b.begin()
	tx.settles(nil, "q", servicebusapi.Complete, b.receive(b.receiver("q", nil), 1)[0])
	tx.sends(nil, "q", false, "b")
	open() // as the next process
	if diff := cmp.Diff([]string{"q a active 0"}, b.there("q")); diff != "" {
		t.Errorf("before the commit (-want +got):\n%s", diff)
	}
}

// Scheduled messages that a transaction cancels are there until it is committed, and what
// it has scheduled itself can be left out of it. One that has become active is no longer
// cancelled: then there is nothing of the transaction.
func TestTransactionCancels(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	schedule := func(ids ...string) (numbers []int64) {
		t.Helper()
		b.do(func(ctx context.Context) (err error) {
			var list []*servicebusapi.Message
			for _, id := range ids {
				list = append(list, &servicebusapi.Message{MessageID: id})
			}
			numbers, err = b.ns.Schedule(ctx, "q", b.clk.Now().Add(time.Minute), list...)
			return err
		})
		return numbers
	}
	is := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, b.there("q")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	numbers := schedule("a", "b")
	tx := b.begin()
	cancels := func(want error, numbers ...int64) {
		t.Helper()
		tx.does(want, func(ctx context.Context) error { return tx.CancelScheduled(ctx, "q", false, numbers...) })
	}
	var own []int64
	tx.does(nil, func(ctx context.Context) (err error) {
		own, err = tx.ScheduleEach(ctx, "q", false, &servicebusapi.Message{MessageID: "c", ScheduledEnqueueTime: b.clk.Now().Add(time.Hour)}, &servicebusapi.Message{MessageID: "d", ScheduledEnqueueTime: b.clk.Now().Add(time.Hour)})
		return err
	})
	cancels(nil, numbers[0], own[0])
	cancels(nil, numbers[0]) // it is there until the commit
	is("q a scheduled 0", "q b scheduled 0")
	tx.commits(nil)
	is("q b scheduled 0", "q d scheduled 0")

	tx = b.begin()
	cancels(bindings.ErrMessageNotFound, numbers[0])
	tx.commits(messaging.ErrRolledBack)

	tx = b.begin()
	cancels(nil, numbers[1])
	tx.sends(nil, "q", false, "e")
	b.clk.Advance(time.Minute)
	tx.commits(messaging.ErrRolledBack)
	is("q d scheduled 0", "q b active 0")
}

// The state of a session is as before until the transaction that sets it is committed, for
// which its lock has to be held.
func TestTransactionSetsState(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q", RequiresSession: true})
	b.queue(servicebusapi.Queue{Name: "other"})
	var s servicebusapi.Session
	accept := func() {
		t.Helper()
		id := "one"
		b.do(func(ctx context.Context) (err error) {
			s, err = b.ns.AcceptSession(ctx, "q", &servicebusapi.SessionOptions{SessionID: &id})
			return err
		})
	}
	is := func(want string) {
		t.Helper()
		b.do(func(ctx context.Context) error {
			got, err := b.ns.SessionState(ctx, "q", "one")
			if string(got) != want {
				t.Errorf("the state is %q, want %q", got, want)
			}
			return err
		})
	}
	var tx *begun
	sets := func(want error, state string) {
		t.Helper()
		tx.does(want, func(ctx context.Context) error { return tx.SetState(ctx, s, []byte(state)) })
	}
	accept()
	tx = b.begin()
	sets(nil, "rolled back")
	tx.does(nil, tx.Rollback)
	is("")

	tx = b.begin()
	sets(nil, "first")
	sets(nil, "second")
	is("")
	tx.commits(nil)
	is("second")

	tx = b.begin()
	tx.sends(nil, "other", false, "a")
	sets(messaging.ErrRolledBack, "of another entity")
	tx.commits(messaging.ErrRolledBack)

	tx = b.begin()
	sets(nil, "too late")
	b.do(func(ctx context.Context) error { return s.Close(ctx) })
	tx.commits(messaging.ErrRolledBack)
	is("second")

	accept()
	tx = b.begin()
	sets(bindings.ErrTooLarge, strings.Repeat("x", 256<<10+1))
}
