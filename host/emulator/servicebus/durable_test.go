package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func openMemory(t *testing.T, opts *store.Options) *store.Store {
	t.Helper()
	db, err := store.OpenMemory(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestDurableConformance(t *testing.T) {
	t.Parallel()
	bindingtest.RunServiceBus(t, func(t *testing.T) *bindingtest.ServiceBusBackend {
		clk := newVirtual()
		ns, err := servicebus.Open(clk, openMemory(t, &store.Options{Sync: true}), nil)
		if err != nil {
			t.Fatal(err)
		}
		return &bindingtest.ServiceBusBackend{
			Namespace: ns,
			Features:  features,
			Do:        func(f func()) { clk.Do("test", f) },
			Now:       clk.Now,
			Advance:   clk.Advance,
		}
	})
}

// randomWork does things to a namespace that leave every kind of state behind.
type randomWork struct {
	*rand.Rand
	clk      *clock.Virtual
	ns       *servicebus.Namespace
	plain    servicebusapi.Receiver
	sessions map[string]servicebusapi.Session
	held     []*servicebusapi.Received
	deferred []int64
}

func (w *randomWork) setup(ctx context.Context) error {
	for _, q := range []servicebusapi.Queue{
		{Name: "Target", MaxDeliveryCount: 3, RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: time.Minute},
		{Name: "q", MaxDeliveryCount: 3, DeadLetteringOnMessageExpiration: true, ForwardDeadLetteredMessagesTo: "target"},
		{Name: "via", ForwardTo: "q"},
		{Name: "sessions", RequiresSession: true, MaxDeliveryCount: 4},
	} {
		if _, err := w.ns.CreateQueue(ctx, q); err != nil {
			return err
		}
	}
	if _, err := w.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"}); err != nil {
		return err
	}
	five := "5"
	rules := []servicebusapi.Rule{
		{},
		{Name: "correlation", Filter: servicebusapi.Filter{Kind: servicebusapi.CorrelationFilter, Correlation: servicebusapi.Correlation{
			Subject: &five, Properties: map[string]any{"n": int64(5)},
		}}},
		{Name: "sql", Filter: servicebusapi.Filter{Kind: servicebusapi.SQLFilter, SQL: servicebusapi.SQL{
			Expression: "n > @low", Parameters: map[string]any{"@low": int64(5)},
		}}, Action: &servicebusapi.SQL{Expression: "SET n = n + 1"}},
	}
	for i, r := range rules {
		if _, err := w.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: fmt.Sprintf("s%d", i)}, &r); err != nil {
			return err
		}
	}
	var err error
	w.sessions = map[string]servicebusapi.Session{}
	w.plain, err = w.ns.Receiver(ctx, "q", nil)
	return err
}

func (w *randomWork) message() *servicebusapi.Message {
	session := fmt.Sprintf("s%d", w.IntN(4))
	m := &servicebusapi.Message{
		MessageID: fmt.Sprint(w.IntN(50)), Body: []byte(strings.Repeat("b", w.IntN(20))), SessionID: &session, Subject: "5",
		ApplicationProperties: map[string]any{
			"n": int64(w.IntN(10)), "text": "ä", "none": nil, "yes": true, "small": int8(-3), "unsigned": uint16(7), "float": float32(1.5),
			"double": 2.5, "bytes": []byte{0, 1}, "time": start, "guid": bindings.GUID{1, 2}, "encoded": messaging.Encoded{0xa3, 1, 'x'},
		},
	}
	switch w.IntN(5) {
	case 0:
		m.TimeToLive = time.Duration(1+w.IntN(60)) * time.Second
	case 1:
		m.ScheduledEnqueueTime = w.clk.Now().Add(time.Duration(w.IntN(60)) * time.Second)
	case 2:
		m.Wire = &messaging.Wire{Header: []byte("h"), Properties: []byte("p"), Body: append([]byte("prefix"), m.Body...), ApplicationPropertiesChanged: true}
	}
	return m
}

// step does one thing. Errors of the service are part of the game.
func (w *randomWork) step(ctx context.Context) {
	one := func() *servicebusapi.Received {
		if len(w.held) == 0 {
			return &servicebusapi.Received{}
		}
		i := w.IntN(len(w.held))
		m := w.held[i]
		w.held = append(w.held[:i], w.held[i+1:]...)
		return m
	}
	properties := map[string]any{"changed": int64(w.IntN(100))}
	switch w.IntN(14) {
	case 0, 1, 2:
		_ = w.ns.Send(ctx, []string{"q", "via", "sessions", "t", "target"}[w.IntN(5)], w.message(), w.message())
	case 3, 4:
		ms, _ := w.plain.Receive(ctx, 1+w.IntN(3), 0)
		w.held = append(w.held, ms...)
	case 5:
		_ = w.plain.Complete(ctx, one())
	case 6:
		_ = w.plain.Abandon(ctx, one(), properties)
	case 7:
		if m := one(); w.plain.Defer(ctx, m, nil) == nil {
			w.deferred = append(w.deferred, m.SequenceNumber)
		}
	case 8:
		_ = w.plain.DeadLetter(ctx, one(), "reason", "description", properties)
	case 9:
		if len(w.deferred) > 0 {
			ms, _ := w.plain.ReceiveDeferred(ctx, w.deferred[w.IntN(len(w.deferred))])
			w.held = append(w.held, ms...)
		}
	case 10:
		_, _ = w.plain.Renew(ctx, one())
	case 11:
		id := fmt.Sprintf("s%d", w.IntN(4))
		s := w.sessions[id]
		if s == nil {
			var err error
			if s, err = w.ns.AcceptSession(ctx, "sessions", &servicebusapi.SessionOptions{SessionID: &id}); err != nil {
				return
			}
			w.sessions[id] = s
		}
		_ = s.SetState(ctx, []byte(id))
		ms, err := s.Receive(ctx, 2, 0)
		if err != nil {
			delete(w.sessions, id)
		}
		for i, m := range ms {
			switch i {
			case 0:
				_ = s.Complete(ctx, m)
			case 1:
				_ = s.Abandon(ctx, m, properties)
			}
		}
		if w.IntN(3) == 0 {
			_ = s.SetState(ctx, nil)
			_ = s.Close(ctx)
			delete(w.sessions, id)
		}
	case 12:
		_, _ = w.ns.Schedule(ctx, "q", w.clk.Now().Add(time.Duration(w.IntN(60))*time.Second), w.message())
	case 13:
		_, _ = w.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "via", ForwardTo: "q", MaxDeliveryCount: 1 + w.IntN(9)})
	}
}

// TestReopenedIsTheSame compares a namespace, again and again, with what another
// reads from its store.
func TestReopenedIsTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			clk := newVirtual()
			db := openMemory(t, nil)
			ns, err := servicebus.Open(clk, db, nil)
			if err != nil {
				t.Fatal(err)
			}
			w := &randomWork{Rand: rand.New(rand.NewPCG(seed, 1)), clk: clk, ns: ns}
			clk.Do("setup", func() { err = w.setup(context.Background()) })
			if err != nil {
				t.Fatal(err)
			}
			for range 15 {
				for range 40 {
					clk.Do("work", func() { w.step(context.Background()) })
				}
				clk.Advance(time.Duration(w.IntN(20)) * time.Second)
				var again *servicebus.Namespace
				// On a clock of its own, at the same time, so that it does nothing by itself.
				other := clock.NewVirtual(clk.Now(), nil)
				if again, err = servicebus.Open(other, db, nil); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(servicebus.Dump(ns), servicebus.Dump(again)); diff != "" {
					t.Fatalf("read again (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A disk that is full for a while loses no acknowledged message. Plain
// receivers go on with the messages there, waiting receivers included.
func TestWritesThatFail(t *testing.T) {
	t.Parallel()
	var full atomic.Bool // for one write; the engine asks in goroutines of its own
	db := openMemory(t, &store.Options{Fault: func(op store.FileOp, _ string) error {
		if op == store.OpWrite && full.CompareAndSwap(true, false) {
			return syscall.ENOSPC
		}
		return nil
	}})
	b := &bench{T: t, clk: newVirtual()}
	b.group = clock.NewGroup(b.clk, 0)
	var err error
	if b.ns, err = servicebus.Open(b.clk, db, nil); err != nil {
		t.Fatal(err)
	}
	b.queue(servicebusapi.Queue{Name: "q"})
	b.send("q", "a")
	r := b.receiver("q", nil)
	m := b.receive(r, 1)[0]
	waits := b.waitFor(r, 1)
	b.queue(servicebusapi.Queue{Name: "sessions", RequiresSession: true})
	var session servicebusapi.Session
	id := "x"
	b.do(func(ctx context.Context) (err error) {
		session, err = b.ns.AcceptSession(ctx, "sessions", &servicebusapi.SessionOptions{SessionID: &id})
		return err
	})
	inSession := b.waitFor(session, 1)
	full.Store(true)
	b.clk.Do("test", func() {
		if err := b.ns.Send(context.Background(), "q", &servicebusapi.Message{MessageID: "b"}); !errors.Is(err, bindings.ErrUnavailable) {
			t.Errorf("Send on a full disk = %v, want ErrUnavailable", err)
		}
	})
	b.do(func(ctx context.Context) error { return r.Complete(ctx, m) })
	inSession.expect(t, 0, 0, messaging.ErrSessionLockLost)
	b.do(func(ctx context.Context) error {
		if _, err := session.RenewSession(ctx); !errors.Is(err, messaging.ErrSessionLockLost) {
			t.Errorf("RenewSession after the fault = %v, want ErrSessionLockLost", err)
		}
		return session.Close(ctx)
	})
	if waits.done && !errors.Is(waits.err, bindings.ErrUnavailable) {
		t.Errorf("the waiting Receive = %d messages, %v", len(waits.ms), waits.err)
	}
	if waits.done {
		waits = b.waitFor(r, 1)
	}
	b.send("q", "c")
	if !waits.done || waits.err != nil || len(waits.ms) != 1 {
		t.Errorf("Receive after the fault = %d messages, %v, want 1", len(waits.ms), waits.err)
	}
	again, err := servicebus.Open(clock.NewVirtual(b.clk.Now(), nil), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(servicebus.Dump(b.ns), servicebus.Dump(again)); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

func TestResetForgetsEverything(t *testing.T) {
	t.Parallel()
	clk := newVirtual()
	db := openMemory(t, nil)
	ns, err := servicebus.Open(clk, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	clk.Do("test", func() {
		ctx := context.Background()
		w := &randomWork{Rand: rand.New(rand.NewPCG(1, 1)), clk: clk, ns: ns}
		if err = w.setup(ctx); err == nil {
			for range 100 {
				w.step(ctx)
			}
			err = ns.Reset()
		}
		if _, err := w.plain.Receive(ctx, 1, 0); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("Receive after Reset = %v, want ErrNotFound", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(servicebus.Dump(servicebus.New(clk, nil)), servicebus.Dump(ns)); diff != "" {
		t.Errorf("after Reset (-want +got):\n%s", diff)
	}
	clk.Advance(time.Hour)
}
