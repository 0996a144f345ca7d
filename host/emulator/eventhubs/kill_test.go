package eventhubs_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) {
	storetest.Child(map[string]storetest.Work{"": workUntilKilled})
	leaktest.Main(m)
}

// Hubs of the process that is killed: one keeps its events, of the other they go while it
// works.
const (
	keptHub  = "kept"
	briefHub = "brief"

	killedPartitions = 4
)

// workUntilKilled has clients that send batches to partitions of both hubs, read one of
// the first, and make consumer groups, and say what they are about to do and what has been
// acknowledged.
func workUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	ns, err := eventhubs.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	for _, hub := range []eventhubs.Hub{{Name: keptHub, Partitions: killedPartitions}, {Name: briefHub, Partitions: 1, Retention: time.Millisecond}} {
		if err := ns.CreateHub(ctx, hub); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return nil, err
		}
	}
	return func(w *storetest.Writer) error {
		r, err := ns.ReadEvents(ctx, keptHub, "$Default", fmt.Sprint(w.Number%killedPartitions), eventhubsapi.Position{Latest: true}, nil)
		if err != nil {
			return err
		}
		for i := 0; ; i++ {
			name := fmt.Sprintf("%d-%d-%d", w.Process, w.Number, i)
			n := 1 + w.IntN(4)
			events := make([]*eventhubsapi.Event, n)
			for k := range events {
				events[k] = &eventhubsapi.Event{MessageID: fmt.Sprintf("%s-%d", name, k), Body: make([]byte, w.IntN(2000))}
			}
			opts := &eventhubsapi.SendOptions{PartitionID: fmt.Sprint(w.IntN(killedPartitions))}
			if w.IntN(3) == 0 {
				opts = &eventhubsapi.SendOptions{PartitionKey: &name}
			}
			w.Say("sending", name, n)
			if err := ns.SendEvents(ctx, keptHub, opts, events...); err != nil {
				return err
			}
			w.Say("sent", name)
			if err := ns.SendEvents(ctx, briefHub, nil, events[0]); err != nil {
				return err
			}
			w.Say("brief", name)
			list, err := r.Receive(ctx, 10, 0)
			if err != nil {
				return err
			}
			for _, e := range list {
				w.Say("read", e.MessageID[:strings.LastIndex(e.MessageID, "-")], e.MessageID, e.SequenceNumber, w.Number%killedPartitions)
			}
			if i%64 == 0 {
				if err := ns.CreateConsumerGroup(ctx, keptHub, "g"+name); err != nil && !errors.Is(err, messaging.ErrQuotaExceeded) {
					return err
				} else if err == nil {
					w.Say("group", name)
				}
			}
		}
	}, nil
}

// sending is the knowledge about events that one client has sent together.
type sending struct {
	events int  // of the batch
	sent   bool // acknowledged
	group  bool // the consumer group of this name was made

	read map[string]string // message ID to partition and number, as a reader had them
}

// ledger holds everything that the clients have said.
type ledger struct {
	sendings map[string]*sending
	brief    int64 // events acknowledged by the hub that does not keep them
}

// TestKill kills a process with 16 clients again and again. After each kill every batch
// that was acknowledged is there, once, whole and in its order, and of the others all or
// nothing; sequence numbers and offsets go on without gaps, and an event that was read has
// the number that it had. REDELIVER_KILLS sets the number of rounds.
func TestKill(t *testing.T) {
	t.Parallel()
	var heard *ledger
	storetest.Kills{
		Rounds: 10, Lines: 300, RoundsOfOne: 10,
		Forget: func() { heard = &ledger{sendings: map[string]*sending{}} },
		Hear:   func(words []string) { heard.note(words) },
		Check:  func(db *store.Store) { heard.check(t, db) },
	}.Run(t)
}

func (l *ledger) note(words []string) {
	s := l.sendings[words[1]]
	if s == nil {
		s = &sending{read: map[string]string{}}
		l.sendings[words[1]] = s
	}
	switch words[0] {
	case "sending":
		s.events, _ = strconv.Atoi(words[2])
	case "sent":
		s.sent = true
	case "brief":
		l.brief++
	case "read":
		s.read[words[2]] = words[4] + "/" + words[3]
	case "group":
		s.group = true
	}
}

// check compares the namespace with what was heard.
func (l *ledger) check(t *testing.T, db *store.Store) {
	t.Helper()
	ctx := context.Background()
	ns, err := eventhubs.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	there := map[string]string{} // message ID to partition and number
	last := map[string]int{}     // client and partition to its sending
	for n := range killedPartitions {
		partition := fmt.Sprint(n)
		list := everything(t, ns, keptHub, partition)
		open := "" // the batch whose events are on
		for i, e := range list {
			if e.SequenceNumber != int64(i) {
				t.Fatalf("partition %s: event %d has the number %d", partition, i, e.SequenceNumber)
			}
			parts := strings.Split(e.MessageID, "-")
			batch, client := strings.Join(parts[:3], "-"), strings.Join(parts[:2], "-")+" "+partition
			number, _ := strconv.Atoi(parts[2])
			if before, ok := last[client]; ok && number < before {
				t.Errorf("partition %s: sending %d of %s comes after %d", partition, number, client, before)
			}
			last[client] = number
			switch k, _ := strconv.Atoi(parts[3]); {
			case there[e.MessageID] != "":
				t.Errorf("event %s is there as %s and %s/%d", e.MessageID, there[e.MessageID], partition, i)
			case k == 0:
				open = batch
			case batch != open:
				t.Errorf("event %s is not behind the others of its batch", e.MessageID)
			}
			there[e.MessageID] = fmt.Sprintf("%s/%d", partition, i)
		}
		p, err := ns.Partition(ctx, keptHub, partition)
		if err != nil || p.LastSequence != int64(len(list))-1 || p.BeginningSequence != 0 {
			t.Errorf("partition %+v, %v, has %d events", p, err, len(list))
		}
	}
	hubs, err := ns.Hubs(ctx)
	if err != nil || len(hubs) != 2 {
		t.Fatalf("hubs %+v, %v", hubs, err)
	}
	groups := map[string]bool{}
	for _, h := range hubs {
		for _, group := range h.ConsumerGroups {
			groups[group] = true
		}
	}
	for name, s := range l.sendings {
		kept := 0
		for k := range s.events {
			id := fmt.Sprintf("%s-%d", name, k)
			if there[id] != "" {
				kept++
			}
			if at := s.read[id]; s.sent && at != "" && at != there[id] {
				t.Errorf("event %s was read at %s and is at %s", id, at, there[id])
			}
		}
		switch {
		case s.sent && kept < s.events:
			t.Errorf("batch %s was acknowledged, and %d of its %d events are there", name, kept, s.events)
		case kept != 0 && kept < s.events:
			t.Errorf("batch %s: %d of its %d events are there", name, kept, s.events)
		case s.group && !groups["g"+name]:
			t.Errorf("the consumer group of %s is gone", name)
		}
	}
	p, err := ns.Partition(ctx, briefHub, "0")
	if err != nil || p.LastSequence < l.brief-1 {
		t.Errorf("the hub that does not keep its events: %+v, %v, after %d", p, err, l.brief)
	}
}

// everything reads a partition from its beginning.
func everything(t *testing.T, ns *eventhubs.Namespace, hub, partition string) []*eventhubsapi.ReceivedEvent {
	t.Helper()
	r, err := ns.ReadEvents(context.Background(), hub, "$Default", partition, eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Receive(context.Background(), 1<<30, 0)
	if err := errors.Join(err, r.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
	return list
}
