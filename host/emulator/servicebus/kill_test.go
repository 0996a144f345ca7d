package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) {
	storetest.Child(map[string]storetest.Work{"": workUntilKilled})
	leaktest.Main(m)
}

// workUntilKilled has clients that send, receive and settle at random, and say what
// they are about to do to a message and what has been acknowledged.
func workUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	ns, err := servicebus.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	_, err = ns.CreateQueue(ctx, servicebusapi.Queue{Name: "q", MaxDeliveryCount: 5, LockDuration: 5 * time.Minute})
	if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return nil, err
	}
	r, err := ns.Receiver(ctx, "q", nil)
	if err != nil {
		return nil, err
	}
	return func(w *storetest.Writer) error {
		for i := 0; ; i++ {
			id := fmt.Sprintf("%d-%d-%d", w.Process, w.Number, i)
			w.Say("sending", id)
			if err := ns.Send(ctx, "q", &servicebusapi.Message{MessageID: id, Body: make([]byte, w.IntN(3000))}); err != nil {
				return err
			}
			w.Say("sent", id)
			ms, err := r.Receive(ctx, 1+w.IntN(3), 0)
			if err != nil {
				return err
			}
			for _, m := range ms {
				w.Say("locked", m.MessageID, m.DeliveryCount, m.LockToken)
				var err error
				switch w.IntN(4) {
				case 0:
					w.Say("abandoning", m.MessageID)
					if err = r.Abandon(ctx, m, nil); err == nil {
						w.Say("abandoned", m.MessageID, m.DeliveryCount+1)
					}
				case 1: // stays locked
				default:
					w.Say("completing", m.MessageID)
					if err = r.Complete(ctx, m); err == nil {
						w.Say("completed", m.MessageID)
					}
				}
				if err != nil {
					return err
				}
			}
		}
	}, nil
}

// fate is the oracle's knowledge of one message.
type fate struct {
	sent, completing, completed bool

	count int64  // failed deliveries acknowledged, at least
	token string // of the lock that was acknowledged last; empty when it may be gone
}

// TestKill kills a process with 16 clients again and again. After each kill every
// message whose send was acknowledged is there once, in the queue or its
// dead-letter queue; none that was completed is; no delivery that failed is
// forgotten; and what was locked is locked still, under the same token.
// REDELIVER_KILLS sets the number of rounds.
func TestKill(t *testing.T) {
	t.Parallel()
	var fates map[string]*fate
	storetest.Kills{
		Rounds: 10, Lines: 300, RoundsOfOne: 20,
		Forget: func() { fates = map[string]*fate{} },
		Hear:   func(words []string) { note(fates, words) },
		Check:  func(db *store.Store) { checkFates(t, db, fates) },
	}.Run(t)
}

func note(fates map[string]*fate, words []string) {
	f := fates[words[1]]
	if f == nil {
		f = &fate{}
		fates[words[1]] = f
	}
	switch words[0] {
	case "sent":
		f.sent = true
	case "locked": // may be said after a later one of another client
		if n, _ := strconv.ParseInt(words[2], 10, 64); n >= f.count {
			f.count, f.token = n, words[3]
		}
	case "abandoning":
		f.token = ""
	case "abandoned":
		n, _ := strconv.ParseInt(words[2], 10, 64)
		f.count = max(f.count, n)
	case "completing":
		f.completing, f.token = true, ""
	case "completed":
		f.completed = true
	}
}

// checkFates compares the namespace with what the oracle knows. A locked
// message is still locked: minutes have not passed.
func checkFates(t *testing.T, db *store.Store, fates map[string]*fate) {
	t.Helper()
	ns, err := servicebus.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	there := servicebus.Locks(ns)
	for id, f := range fates {
		m, ok := there[id]
		switch {
		case m.Copies > 1:
			t.Errorf("message %s is there %d times", id, m.Copies)
		case f.completed && ok:
			t.Errorf("message %s was completed and is there", id)
		case !ok && f.sent && !f.completing:
			t.Errorf("message %s was sent and is gone", id)
		case ok && m.Count < f.count:
			t.Errorf("message %s failed %d times, the namespace says %d", id, f.count, m.Count)
		case ok && f.token != "" && m.Count == f.count && m.Token != f.token:
			t.Errorf("message %s has lost its lock %s", id, f.token)
		}
	}
}
