package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/durable"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/services"
)

// world is a host in which every service has something.
type world struct {
	*host.Host
	clk *clock.Virtual
}

// newWorld starts a host at a time; db may be nil. Its one function fails every
// Event Grid event, so that events wait for their next attempt.
func newWorld(t testing.TB, at time.Time, db *store.Store) *world {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(gridHostJSON), 0o644); err != nil {
		t.Fatal(err)
	}
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errors.New("no") })
	w := &world{clk: clock.NewVirtual(at, &clock.VirtualOptions{Strict: true})}
	var err error
	w.Host, err = host.New(dir, &host.Options{Clock: w.clk, Store: db, Handlers: app, Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		w.clk.Close()
	})
	w.clk.Do("start", func() { err = w.Start(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// populate leaves something of every kind behind, chosen by random.
func (w *world) populate(ctx context.Context, random *rand.Rand) error {
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	text := func() string { return strings.Repeat("ü", 1+random.IntN(400)) }

	q := w.Services().Storage().Queue("orders")
	do(q.Create(ctx))
	do(w.Services().Storage().SetQueueMetadata(ctx, "orders", map[string]string{"owner": "me"}))
	do(w.Services().Storage().SetQueuePolicies(ctx, "orders", []storage.AccessPolicy{{ID: "p1", Permission: "r"}}))
	do(w.Services().Storage().SetQueueServiceProperties(ctx, storage.ServiceProperties{}))
	do(w.Services().Storage().SetBlobServiceProperties(ctx, &storage.ServiceProperties{}))
	for range 1 + random.IntN(20) {
		_, err := q.Put(ctx, text(), &queue.PutOptions{Visibility: time.Duration(random.IntN(3)) * time.Hour})
		do(err)
	}
	_, err := q.Receive(ctx, 1+random.IntN(5), time.Hour)
	do(err)

	c := w.Services().Storage().Container("docs")
	_, err = c.Create(ctx, nil)
	do(err)
	for i := range 1 + random.IntN(10) {
		_, err := c.Blob(fmt.Sprint("b", i)).Put(ctx, strings.NewReader(strings.Repeat("x", random.IntN(100_000))), &blob.PutOptions{Metadata: map[string]string{"i": fmt.Sprint(i)}})
		do(err)
	}
	_, err = c.Blob("staged").PutBlock(ctx, "AAAA", strings.NewReader("half"), nil)
	do(err)

	ns := w.Services().ServiceBus()
	_, err = ns.CreateQueue(ctx, servicebus.Queue{Name: "plain", RequiresDuplicateDetection: true})
	do(err)
	_, err = ns.CreateQueue(ctx, servicebus.Queue{Name: "sessions", RequiresSession: true, MaxDeliveryCount: 1})
	do(err)
	_, err = ns.CreateTopic(ctx, servicebus.Topic{Name: "news"})
	do(err)
	_, err = ns.CreateSubscription(ctx, servicebus.Subscription{Topic: "news", Name: "all"}, &servicebus.Rule{
		Name: "some", Filter: servicebus.Filter{Kind: servicebus.SQLFilter, SQL: servicebus.SQL{Expression: "i > 1"}},
	})
	do(err)
	for i := range 2 + random.IntN(20) {
		session := fmt.Sprint("s", random.IntN(3))
		m := &servicebus.Message{MessageID: fmt.Sprint("m", i), SessionID: &session, Body: []byte(text()), ApplicationProperties: map[string]any{"i": int64(i), "when": w.clk.Now().UTC()}}
		if random.IntN(4) == 0 {
			m.ScheduledEnqueueTime = w.clk.Now().Add(time.Hour)
		}
		for _, entity := range []string{"plain", "sessions", "news"} {
			do(ns.Send(ctx, entity, m))
		}
	}
	r, err := ns.Receiver(ctx, "plain", nil)
	do(err)
	ms, err := r.Receive(ctx, 3, 0)
	do(err)
	for i, m := range ms {
		switch i {
		case 0:
			do(r.DeadLetter(ctx, m, "why", "because", nil))
		case 1:
			do(r.Defer(ctx, m, nil))
		}
	}
	s, err := ns.AcceptSession(ctx, "sessions", nil)
	do(err)
	do(s.SetState(ctx, []byte("half done")))
	_, err = s.Receive(ctx, 1, 0)
	do(err)

	hubs := w.Services().EventHubs()
	do(hubs.CreateHub(ctx, eventhubs.Hub{Name: "Telemetry", Partitions: 3, ConsumerGroups: []string{"slow"}}))
	for range random.IntN(30) {
		key := fmt.Sprint("k", random.IntN(5))
		do(hubs.SendEvents(ctx, "telemetry", &eventhubsapi.SendOptions{PartitionKey: &key}, &eventhubsapi.Event{Body: []byte(text()), Properties: map[string]any{"n": int32(random.IntN(9))}}))
	}

	for _, name := range []string{"orders", "leases"} {
		k, err := w.Services().Cosmos().CreateContainer(ctx, cosmos.ContainerSpec{Database: "shop", Name: name, Ranges: 1 + random.IntN(3)})
		do(err)
		for range random.IntN(20) {
			_, err := k.Upsert(ctx, fmt.Appendf(nil, `{"id":"%d","text":%q}`, random.IntN(8), text()))
			do(err)
		}
	}

	tasks := w.Services().Durable().Hub("Tasks")
	for range 1 + random.IntN(3) {
		input := `"` + text() + `"`
		id, err := tasks.Start(ctx, durable.Start{Name: "Order", Input: &input, Due: w.clk.Now().Add(time.Duration(random.IntN(2)) * time.Hour)})
		do(err)
		do(tasks.RaiseEvent(ctx, id, "approved", "true", "cli"))
	}
	do(tasks.Signal(ctx, durable.EntityID{Name: "counter", Key: "k"}, "add", "1", w.clk.Now().Add(time.Hour), "cli"))

	topics := w.Services().EventGrid()
	do(topics.CreateTopic(ctx, eventgrid.Topic{Name: "other", InputSchema: eventgrid.CloudEventSchema}))
	_, err = topics.Subscribe(ctx, "other", eventgrid.Subscription{Name: "some", Function: "OnOrder"})
	do(err)
	for range 1 + random.IntN(5) {
		events, err := eventgrid.ParseEvents([]byte(gridEvent), eventgrid.EventGridSchema)
		do(err)
		do(topics.Publish(ctx, "shop", events...))
	}
	return errors.Join(errs...)
}

// save returns the state as an archive and, for people, as a list of its keys.
func (w *world) save(t testing.TB) (archive []byte, keys []string) {
	t.Helper()
	var b bytes.Buffer
	if err := w.SaveState(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), keysOf(t, b.Bytes())
}

// keysOf lists the keys of an archive.
func keysOf(t testing.TB, archive []byte) (keys []string) {
	t.Helper()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Load(bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	v, err := db.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	err = v.Scan([]byte{1}, nil, func(key, value []byte) error {
		if bytes.HasSuffix(key, []byte("time")) {
			return nil // of the last change; in memory, of the copy
		}
		keys = append(keys, fmt.Sprintf("%q = %q", key, value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Every host loads the state that another has saved: in memory or with a store, in
// every combination. It then saves the same bytes, and a snapshot holds no less.
func TestStateHoldsEveryService(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		for _, stored := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
			t.Run(fmt.Sprintf("%d/%v", seed, stored), func(t *testing.T) {
				t.Parallel()
				open := func(at time.Time, stored bool) *world {
					var db *store.Store
					if stored {
						var err error
						if db, err = store.Open(t.TempDir(), nil); err != nil {
							t.Fatal(err)
						}
						t.Cleanup(func() { _ = db.Close() })
					}
					return newWorld(t, at, db)
				}
				from := open(hosttest.Start, stored[0])
				var err error
				from.clk.Do("populate", func() { err = from.populate(context.Background(), rand.New(rand.NewPCG(seed, 1))) })
				if err != nil {
					t.Fatal(err)
				}
				from.clk.Advance(25 * time.Second) // some attempts
				archive, want := from.save(t)
				for _, prefix := range []string{"q", "t", "b", "bus", "hub", "cosmos", "grid"} {
					if !strings.Contains(strings.Join(want, "\n"), "\n\""+prefix) {
						t.Errorf("the archive has no key that begins with %q", prefix)
					}
				}
				to := open(from.clk.Now(), stored[1])
				if moved, err := to.LoadState(bytes.NewReader(archive)); err != nil || moved != 0 {
					t.Fatalf("LoadState = %v, %v", moved, err)
				}
				again, got := to.save(t)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("after the load (-saved +saved again):\n%s", diff)
				}
				if stored != [2]bool{true, false} && !bytes.Equal(archive, again) {
					t.Error("the archives have the same keys, and differ")
				}

				var snap *services.Snapshot
				to.clk.Do("snapshot", func() { snap, err = to.Snapshot() })
				if err == nil {
					err = to.ResetState()
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, left := to.save(t); strings.Contains(strings.Join(left, "\n"), "elemetry") {
					t.Errorf("after the reset: %s", strings.Join(left, "\n"))
				}
				to.clk.Do("restore", func() { err = to.Restore(snap) })
				if err != nil {
					t.Fatal(err)
				}
				again, _ = to.save(t)
				plain := open(from.clk.Now(), false) // a store numbers files on
				if _, err := plain.LoadState(bytes.NewReader(again)); err != nil {
					t.Fatal(err)
				}
				if _, got := plain.save(t); !cmp.Equal(want, got) {
					t.Errorf("after Restore (-saved +restored):\n%s", cmp.Diff(want, got))
				}
			})
		}
	}
}

// A state of which one service cannot be read changes none of them.
func TestStateIsLoadedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	from := newWorld(t, hosttest.Start, nil)
	var err error
	from.clk.Do("populate", func() { err = from.populate(context.Background(), rand.New(rand.NewPCG(7, 1))) })
	if err != nil {
		t.Fatal(err)
	}
	archive, _ := from.save(t)
	for service, key := range map[string]string{
		"queues": "q\x00orders", "blobs": "b\x00docs\x00\x02b0", "Service Bus": "buseplain\x00", "Event Hubs": "hubhtelemetry\x00",
		"Cosmos DB": "cosmos.dshop", "Event Grid": "gridtother",
	} {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stored=%v", service, stored), func(t *testing.T) {
				t.Parallel()
				bad := damaged(t, archive, key)
				var db *store.Store
				if stored {
					var err error
					if db, err = store.OpenMemory(nil); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = db.Close() })
				}
				to := newWorld(t, hosttest.Start, db)
				if _, err := to.LoadState(bytes.NewReader(archive)); err != nil {
					t.Fatal(err)
				}
				var err error
				to.clk.Do("put", func() { _, err = to.Services().Storage().Queue("orders").Put(context.Background(), "later", nil) })
				if err != nil {
					t.Fatal(err)
				}
				_, want := to.save(t)
				var corrupt *store.CorruptError
				if _, err := to.LoadState(bytes.NewReader(bad)); !errors.As(err, &corrupt) || corrupt.Path != "archive" {
					t.Errorf("LoadState = %v, want a *store.CorruptError of the archive", err)
				}
				if _, got := to.save(t); !cmp.Equal(want, got) {
					t.Errorf("a state that was refused has changed the host's (-want +got):\n%s", cmp.Diff(want, got))
				}
			})
		}
	}
}

// damaged is an archive in which one key, which must be there, has another value.
func damaged(t *testing.T, archive []byte, key string) []byte {
	t.Helper()
	return edited(t, archive, key, func([]byte) []byte { return []byte("\xff") })
}

// edited is an archive in which the first key that begins with prefix, which must be
// there, has a value made of its own.
func edited(t *testing.T, archive []byte, prefix string, edit func(value []byte) []byte) []byte {
	t.Helper()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Load(bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	v, err := db.View()
	if err != nil {
		t.Fatal(err)
	}
	var key, value []byte
	err = errors.Join(v.Scan([]byte(prefix), store.PrefixEnd([]byte(prefix)), func(k, val []byte) error {
		if key == nil {
			key, value = bytes.Clone(k), bytes.Clone(val)
		}
		return nil
	}), v.Close())
	if err != nil || key == nil {
		t.Fatalf("a key that begins with %q: %q, %v", prefix, key, err)
	}
	batch, err := db.NewBatch()
	if err != nil {
		t.Fatal(err)
	}
	batch.Set(key, edit(value))
	if err := db.Apply(batch); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := db.Save(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A state that can be read, and that no host could have come to, is refused as damage:
// one that is taken is kept, and would end this host and each later one.
func TestImpossibleState(t *testing.T) {
	t.Parallel()
	from := newWorld(t, hosttest.Start, nil)
	var err error
	from.clk.Do("populate", func() { err = from.populate(context.Background(), rand.New(rand.NewPCG(7, 1))) })
	if err != nil {
		t.Fatal(err)
	}
	archive, _ := from.save(t)
	at := func(i int, b byte) func([]byte) []byte {
		return func(value []byte) []byte { value[i] = b; return value }
	}
	text := func(old, with string) func([]byte) []byte {
		return func(value []byte) []byte {
			if !bytes.Contains(value, []byte(old)) {
				t.Errorf("%q is not in %q", old, value)
			}
			return bytes.Replace(value, []byte(old), []byte(with), 1)
		}
	}
	const state, token = 2, -20 // places in what is kept about a message
	for name, test := range map[string]struct {
		prefix string
		edit   func([]byte) []byte
	}{
		"a message that stays in a topic":    {"bussnews\x00", at(state, byte(servicebus.StateActive))},
		"a scheduled message with a lock":    {"bussnews\x00", func(value []byte) []byte { value[len(value)+token] ^= 1; return value }},
		"a message in an unknown state":      {"bussplain\x00", at(state, 200)},
		"an entity that is idle after 8 ns":  {"buseplain\x00", text(`"AutoDeleteOnIdle":0`, `"AutoDeleteOnIdle":8`)},
		"an entity that is nothing":          {"buseplain\x00", text(`"Queue"`, `"Other"`)},
		"a lock of no time":                  {"buseplain\x00", text(`"LockDuration":60000000000`, `"LockDuration":6`)},
		"a blob without all of its content":  {"n\x00", text("\x02\x01", "\x02\x00")},
		"a content of fewer bytes than none": {"n\x00", func(value []byte) []byte { return append(value[:len(value)-2], 1, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := newWorld(t, hosttest.Start, nil)
			var corrupt *store.CorruptError
			if _, err := to.LoadState(bytes.NewReader(edited(t, archive, test.prefix, test.edit))); !errors.As(err, &corrupt) {
				t.Errorf("LoadState = %v, want a *store.CorruptError", err)
			}
		})
	}
	to := newWorld(t, hosttest.Start, nil)
	if _, err := to.LoadState(bytes.NewReader(edited(t, archive, "cosmos.c", text(`"PartitionKey":"/id",`, "")))); err != nil {
		t.Errorf("a container without a partition key: %v", err)
	}
}
