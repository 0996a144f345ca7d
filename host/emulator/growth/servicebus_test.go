package growth_test

import (
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	emulated "github.com/redeliver/redeliver/host/emulator/servicebus"
)

func namespace(b *bench, q servicebus.Queue) *emulated.Namespace {
	ns := emulated.New(clock.System(), nil)
	q.Name, q.MaxSizeInMegabytes, q.LockDuration = "q", 5120, 5*time.Minute
	_, err := ns.CreateQueue(ctx, q)
	b.must(err)
	return ns
}

// send sends n messages, a hundred at a time.
func send(b *bench, n int, message func(i int) *servicebus.Message, how func(list ...*servicebus.Message) error) {
	for i := 0; i < n; i += 100 {
		var list []*servicebus.Message
		for k := range 100 {
			list = append(list, message(i+k))
		}
		b.must(how(list...))
	}
}

func plain(i int) *servicebus.Message {
	return &servicebus.Message{MessageID: fmt.Sprint("m", i), Body: []byte("x")}
}

func to(ns *emulated.Namespace) func(list ...*servicebus.Message) error {
	return func(list ...*servicebus.Message) error { return ns.Send(ctx, "q", list...) }
}

func busQueue(b *bench) {
	ns := namespace(b, servicebus.Queue{})
	send(b, b.n, plain, to(ns))
	r, err := ns.Receiver(ctx, "q", nil)
	b.must(err)
	b.per("send", func(i int) error { return ns.Send(ctx, "q", plain(i)) })
	b.per("receive and complete", func(int) error {
		list, err := r.Receive(ctx, 1, 0)
		if err == nil {
			err = r.Complete(ctx, list[0])
		}
		return err
	})
	b.per("receive and abandon", func(int) error {
		list, err := r.Receive(ctx, 1, 0)
		if err == nil {
			err = r.Abandon(ctx, list[0], nil)
		}
		return err
	})
	b.per("defer, and receive by number", func(int) error {
		list, err := r.Receive(ctx, 1, 0)
		if err == nil {
			err = r.Defer(ctx, list[0], nil)
		}
		if err == nil {
			list, err = r.ReceiveDeferred(ctx, list[0].SequenceNumber)
		}
		if err == nil {
			err = r.Complete(ctx, list[0])
		}
		return err
	})
	b.per("peek 10 in the middle", func(int) error { _, err := r.Peek(ctx, int64(b.n/2), 10); return err })
	nobody := "nobody"
	b.per("peek a session that is not there", func(int) error { _, err := ns.Peek(ctx, "q", &nobody, 0, 1); return err })
	b.per("runtime properties", func(int) error { _, err := ns.GetQueue(ctx, "q"); return err })
	b.per("delete one", func(int) error {
		_, err := ns.DeleteMessages(ctx, "q", nil, 1, time.Now().Add(time.Hour))
		return err
	})
}

func busLocked(b *bench) {
	ns := namespace(b, servicebus.Queue{})
	send(b, b.n+1_000, plain, to(ns))
	r, err := ns.Receiver(ctx, "q", nil)
	b.must(err)
	var held []*servicebus.Received
	for len(held) < b.n {
		list, err := r.Receive(ctx, 250, 0)
		b.must(err)
		held = append(held, list...)
	}
	b.per("renew", func(i int) error { _, err := r.Renew(ctx, held[i]); return err })
	b.per("complete the last", func(i int) error { return r.Complete(ctx, held[len(held)-1-i]) })
	b.per("delete one behind the locked", func(int) error {
		_, err := ns.DeleteMessages(ctx, "q", nil, 1, time.Now().Add(time.Hour))
		return err
	})
	b.per("end one lock", func(i int) error { _, err := ns.ExpireLocks(ctx, "q", held[100+i].SequenceNumber); return err })
}

func busScheduled(b *bench) {
	ns := namespace(b, servicebus.Queue{})
	var numbers []int64
	at := time.Now().Add(time.Hour)
	schedule := func(list ...*servicebus.Message) error {
		more, err := ns.Schedule(ctx, "q", at.Add(time.Duration(len(numbers))), list...)
		numbers = append(numbers, more...)
		return err
	}
	send(b, b.n, plain, schedule)
	b.per("schedule", func(i int) error { return schedule(plain(i)) })
	b.per("cancel", func(i int) error { return ns.CancelScheduled(ctx, "q", numbers[(i*7919)%b.n]) })
	b.per("release one", func(i int) error { return ns.Release(ctx, "q", numbers[b.n+i]) })
}

func sessionID(i int) *string {
	id := fmt.Sprintf("s%09d", i)
	return &id
}

func busSessions(b *bench) {
	ns := namespace(b, servicebus.Queue{RequiresSession: true})
	send(b, b.n, func(i int) *servicebus.Message {
		return &servicebus.Message{SessionID: sessionID(i), Body: []byte("x")}
	}, to(ns))
	always := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	b.per("list 10 sessions from the middle", func(int) error { _, err := ns.Sessions(ctx, "q", always, b.n/2, 10); return err })
	b.per("list sessions by time of their states", func(int) error { _, err := ns.Sessions(ctx, "q", time.Time{}, 0, 10); return err })
	b.per("peek in the last session", func(int) error { _, err := ns.Peek(ctx, "q", sessionID(b.n-1), 0, 1); return err })
	b.per("delete one of the last session", func(i int) error {
		_, err := ns.DeleteMessages(ctx, "q", sessionID(b.n-1-i), 1, time.Now().Add(time.Hour))
		return err
	})
	b.per("set and get a state", func(i int) error {
		err := ns.SetSessionState(ctx, "q", *sessionID(i), []byte("state"))
		if err == nil {
			_, err = ns.SessionState(ctx, "q", *sessionID(i))
		}
		return err
	})
	b.per("accept any, receive, complete, close", func(int) error {
		s, err := ns.AcceptSession(ctx, "q", nil)
		if err != nil {
			return err
		}
		list, err := s.Receive(ctx, 1, 0)
		if err == nil {
			err = s.Complete(ctx, list[0])
		}
		if err == nil {
			err = s.Close(ctx)
		}
		return err
	})
}

// busNamed is a queue without sessions whose messages have session IDs.
func busNamed(b *bench) {
	ns := namespace(b, servicebus.Queue{})
	send(b, b.n, func(i int) *servicebus.Message {
		return &servicebus.Message{SessionID: sessionID(i), Body: []byte("x")}
	}, to(ns))
	b.per("peek by session", func(i int) error { _, err := ns.Peek(ctx, "q", sessionID(b.n-1-i), 0, 1); return err })
	b.per("delete by session", func(i int) error {
		_, err := ns.DeleteMessages(ctx, "q", sessionID(b.n-1-i), 1, time.Now().Add(time.Hour))
		return err
	})
}

func busDead(b *bench) {
	ns := namespace(b, servicebus.Queue{})
	send(b, b.n, plain, to(ns))
	r, err := ns.Receiver(ctx, "q", nil)
	b.must(err)
	for done := 0; done < b.n; {
		list, err := r.Receive(ctx, 250, 0)
		b.must(err)
		for _, m := range list {
			b.must(r.DeadLetter(ctx, m, "r", "d", nil))
		}
		done += len(list)
	}
	const dead = "q/$DeadLetterQueue"
	dr, err := ns.Receiver(ctx, dead, nil)
	b.must(err)
	list, err := dr.Peek(ctx, 0, 100)
	b.must(err)
	b.per("redrive one", func(i int) error { _, err := ns.Redrive(ctx, dead, list[i].SequenceNumber); return err })
	b.per("peek 10", func(int) error { _, err := dr.Peek(ctx, int64(b.n/2), 10); return err })
}

func busDuplicates(b *bench) {
	ns := namespace(b, servicebus.Queue{RequiresDuplicateDetection: true})
	send(b, b.n, plain, to(ns))
	b.per("send", func(i int) error { return ns.Send(ctx, "q", plain(b.n+i)) })
	b.per("send again", func(i int) error { return ns.Send(ctx, "q", plain(i)) })
}
