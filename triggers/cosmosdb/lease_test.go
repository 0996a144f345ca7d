package cosmosdb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redeliver/redeliver/bindings"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
)

// The lease container holds what the platform's would hold.
func TestLeaseDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	b.run(&cosmosdb.Options{Owner: "host-1", LeasePrefix: "a-", StartFromBeginning: true}, nil)
	info := b.feed.Info()
	base := fmt.Sprintf("a-localhost_%s_%s", info.DatabaseRID, info.RID)
	lease := func(id, low, high string) map[string]any {
		return map[string]any{
			"id": base + ".." + id, "version": 0.0, "LeaseToken": id, "Owner": "host-1", "ContinuationToken": `"0"`, "Mode": "Incremental Feed",
			"FeedRange":  map[string]any{"Range": map[string]any{"min": low, "max": high}},
			"properties": map[string]any{}, "timestamp": "2030-01-01T00:00:00Z",
		}
	}
	want := map[string]map[string]any{
		base + "..0":   lease("0", "", "80000000"),
		base + "..1":   lease("1", "80000000", "FF"),
		base + ".info": {"id": base + ".info"},
	}
	got := b.documents()
	system := cmpopts.IgnoreMapEntries(func(name string, _ any) bool {
		return slices.Contains([]string{"_rid", "_self", "_attachments", "_etag", "_ts"}, name)
	})
	if diff := cmp.Diff(want, got, system); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	for id, d := range got {
		if d["_etag"] == nil || d["_ts"] != float64(start.Unix()) {
			t.Errorf("%s: _etag %v, _ts %v", id, d["_etag"], d["_ts"])
		}
	}
}

// A lease of an older version is understood, and gets what newer ones say.
func TestOlderLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	var ids []string
	for n := range 20 {
		ids = append(ids, fmt.Sprint(n))
	}
	b.put(ids...)
	id := b.leaseID("", "1")
	b.writeLease(fmt.Sprintf(`{"id":%q,"PartitionId":"1","Owner":null,"ContinuationToken":"\"1\""}`, id))
	i := b.run(&cosmosdb.Options{Owner: "host-1", StartFromBeginning: true}, nil)
	seen := 0
	for _, ids := range i.batches() {
		seen += len(strings.Split(ids, ","))
	}
	if seen != len(ids)-1 {
		t.Errorf("%d changes seen, want all but the first of range 1: %q", seen, i.batches())
	}
	got := b.documents()[id]
	want := map[string]any{"min": "80000000", "max": "FF"}
	if r, _ := got["FeedRange"].(map[string]any); !cmp.Equal(r["Range"], any(want)) || got["PartitionId"] != "1" || got["LeaseToken"] != "1" || got["Owner"] != "host-1" {
		t.Errorf("lease %v", got)
	}
}

// writeLease puts a document into the lease container, as somebody else does.
func (b *bench) writeLease(document string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err == nil {
			_, err = c.Upsert(ctx, []byte(document))
		}
		return err
	})
}

// removeLease removes a document of the lease container.
func (b *bench) removeLease(id string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err == nil {
			err = c.Delete(ctx, id, cosmosapi.KeyText(id), "")
		}
		return err
	})
}

// Functions with different prefixes both see every change; with one they share.
func TestLeasePrefix(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, second string
		want         int
	}{{"different", "b-", 2}, {"equal", "a-", 1}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			first := b.run(&cosmosdb.Options{Owner: "1", LeasePrefix: "a-", WakeUp: true}, nil)
			second := b.run(&cosmosdb.Options{Owner: "2", LeasePrefix: test.second, WakeUp: true}, nil)
			b.put("x")
			if got := len(first.batches()) + len(second.batches()); got != test.want {
				t.Errorf("%d deliveries, want %d", got, test.want)
			}
		})
	}
}

// Two hosts come to an equal share, one lease at a time.
func TestSharing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	b.run(&cosmosdb.Options{Owner: "1"}, nil)
	owners := func() string {
		n := map[any]int{}
		for r := range 4 {
			n[b.lease(fmt.Sprint(r))["Owner"]]++
		}
		return fmt.Sprintf("%d:%d", n["1"], n["2"])
	}
	got := []string{owners()}
	second := b.run(&cosmosdb.Options{Owner: "2"}, nil)
	got = append(got, owners())
	for range 3 {
		b.clk.Advance(13 * time.Second)
		got = append(got, owners())
	}
	second.end()
	b.clk.Advance(13 * time.Second)
	got = append(got, owners())
	b.clk.Advance(13 * time.Second)
	got = append(got, owners())
	if diff := cmp.Diff([]string{"4:0", "3:1", "2:2", "2:2", "2:2", "4:0", "4:0"}, got); diff != "" {
		t.Errorf("leases of 1:2 (-want +got):\n%s", diff)
	}
}

// Another host that takes a lease over ends the work on its range: the token is
// cancelled at the next renewal, and nothing is checkpointed.
func TestTakeover(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.put("a")
	var cancelledAt time.Duration
	i := b.run(&cosmosdb.Options{Owner: "1", StartFromBeginning: true}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, time.Hour)
		cancelledAt = b.clk.Now().Sub(start)
		return triggers.Result{Err: ctx.Err(), Attempts: 1}
	})
	b.clk.Advance(time.Second)
	b.setOwner("2")
	b.clk.Advance(20 * time.Second)
	if want := 8*time.Second + 500*time.Millisecond; cancelledAt != want {
		t.Errorf("cancelled after %v, want at the first renewal after %v", cancelledAt, want)
	}
	got := i.sink.Settlements()
	if len(got) != 1 || got[0].Settlement.Decision != triggers.NotCheckpointed || got[0].Settlement.Note != cosmosdb.NoteLeaseLost {
		t.Fatalf("settlements %+v", got)
	}
	if l := b.lease("0"); l["Owner"] != "2" || l["ContinuationToken"] != nil {
		t.Errorf("lease %v", l)
	}
}

// A lease that is taken over between two renewals is found out by the checkpoint.
func TestTakeoverAtCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.put("a")
	i := b.run(&cosmosdb.Options{Owner: "1", StartFromBeginning: true}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, 5*time.Second)
		return triggers.Result{Attempts: 1}
	})
	b.clk.Advance(time.Second)
	b.setOwner("2")
	b.clk.Advance(5 * time.Second)
	got := i.sink.Settlements()
	if len(got) != 1 || got[0].Settlement.Decision != triggers.NotCheckpointed || got[0].Settlement.Note != cosmosdb.NoteLeaseLost {
		t.Fatalf("settlements %+v", got)
	}
	// The other one never renews: the range comes back when its lease has expired.
	b.clk.Advance(80 * time.Second)
	if diff := cmp.Diff([]string{"a", "a"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

// setOwner takes the lease of range 0 over, as another host does.
func (b *bench) setOwner(owner string) {
	b.Helper()
	at, err := b.clk.Now().UTC().MarshalText()
	if err != nil {
		b.Fatal(err)
	}
	b.writeLease(fmt.Sprintf(`{"id":%q,"LeaseToken":"0","Owner":%q,"ContinuationToken":null,"timestamp":%q}`, b.leaseID("", "0"), owner, at))
}

// A host that was killed has its own leases back at once; another one waits until
// they have expired.
func TestExpiredLease(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		owner string
		after time.Duration
	}{{"dead", 0}, {"other", 65 * time.Second}} { // rounds every 13 s, expired after 60 s
		t.Run(test.owner, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.run(&cosmosdb.Options{StartFromBeginning: true}, nil).end()
			b.setOwner("dead")
			b.put("a")
			i := b.run(&cosmosdb.Options{Owner: test.owner, StartFromBeginning: true}, nil)
			if test.after > 0 {
				b.clk.Advance(test.after - time.Second)
				if got := i.batches(); len(got) != 0 {
					t.Errorf("too early: %q", got)
				}
				b.clk.Advance(time.Second)
			}
			if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
		})
	}
}

// How soon another host has the range of one that was killed follows from the two
// intervals: a lease lapses when it was not renewed for longer than the one, and is
// looked at once in the other.
func TestIntervals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ acquire, expiration, want time.Duration }{
		{0, 0, 65 * time.Second},
		{2 * time.Second, 0, 62 * time.Second},
		{0, 10 * time.Second, 13 * time.Second},
		{2 * time.Second, 10 * time.Second, 12 * time.Second},
	} {
		t.Run(fmt.Sprintf("%v,%v", test.acquire, test.expiration), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.run(&cosmosdb.Options{StartFromBeginning: true}, nil).end()
			b.setOwner("dead")
			b.put("a")
			i := b.run(&cosmosdb.Options{Owner: "other", StartFromBeginning: true, AcquireInterval: test.acquire, Expiration: test.expiration}, nil)
			b.clk.Advance(test.want - time.Millisecond)
			if got := i.batches(); len(got) != 0 {
				t.Errorf("too early: %q", got)
			}
			b.clk.Advance(time.Millisecond)
			if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
		})
	}
}

// A lease that is not what it should be is told once, harms no other range, and is
// read again when somebody has put it right.
func TestCorruptLease(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"token":        `{"id":%q,"LeaseToken":"0","Owner":null,"ContinuationToken":"abc"}`,
		"future token": `{"id":%q,"LeaseToken":"0","Owner":null,"ContinuationToken":"\"99\""}`,
		"no range":     `{"id":%q,"Owner":null}`,
		"other range":  `{"id":%q,"LeaseToken":"1","Owner":null}`,
		"no such range": `{"id":%q,"version":1,"LeaseToken":"-3FFF","Owner":null,"ContinuationToken":null,` +
			`"FeedRange":{"Range":{"min":"","max":"3FFF"}},"Mode":"Incremental Feed"}`,
		"types":     `{"id":%q,"LeaseToken":7,"Owner":[]}`,
		"timestamp": `{"id":%q,"LeaseToken":"0","Owner":"gone","timestamp":"yesterday"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			b.run(nil, nil).end()
			id := b.leaseID("", "0")
			b.writeLease(fmt.Sprintf(document, id))
			told := map[string]int{}
			i := b.run(&cosmosdb.Options{StartFromBeginning: true, Notify: func(lease string, _ error) { told[lease]++ }}, nil)
			var all []string
			for n := range 20 {
				all = append(all, fmt.Sprint(n))
			}
			b.put(all...)
			b.clk.Advance(time.Minute)
			if diff := cmp.Diff(map[string]int{id: 1}, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if len(i.batches()) == 0 {
				t.Error("the other range stands still")
			}
			b.writeLease(fmt.Sprintf(`{"id":%q,"LeaseToken":"0"}`, id))
			b.clk.Advance(13 * time.Second)
			seen := 0
			for _, ids := range i.batches() {
				seen += len(strings.Split(ids, ","))
			}
			if seen != len(all) {
				t.Errorf("%d of %d changes seen: %q", seen, len(all), i.batches())
			}
			b.writeLease(fmt.Sprintf(document, id))
			b.clk.Advance(time.Minute)
			if told[id] != 2 {
				t.Errorf("told %d times, want again when it is wrong again", told[id])
			}
			if i.done {
				t.Errorf("the listener has ended: %v", i.err)
			}
		})
	}
}

// A document of others with the name of a lease is left alone.
func TestForeignLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	foreign := b.leaseID("", "0") + "-copy"
	b.writeLease(fmt.Sprintf(`{"id":%q,"LeaseToken":"0","Owner":null,"ContinuationToken":null}`, foreign))
	var told []string
	i := b.run(&cosmosdb.Options{StartFromBeginning: true, WakeUp: true, Notify: func(lease string, _ error) { told = append(told, lease) }}, nil)
	b.put("a")
	b.clk.Advance(time.Minute)
	if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{foreign}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if got := b.documents()[foreign]; got["Owner"] != nil {
		t.Errorf("the foreign lease has the owner %v", got["Owner"])
	}
}

// A lease that somebody removes ends the work on its range. It is not made again
// while the marker says that leases were made, as on the platform; that is told.
// Without the marker it is.
func TestRemovedLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	var told []error
	i := b.run(&cosmosdb.Options{StartFromBeginning: true, Notify: func(_ string, err error) { told = append(told, err) }}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, 5*time.Minute)
		return triggers.Result{Err: ctx.Err(), Attempts: 1}
	})
	b.put("a")
	b.clk.Advance(5 * time.Second)
	b.removeLease(b.leaseID("", "0"))
	b.clk.Advance(time.Minute)
	got := i.sink.Settlements()
	if len(got) != 1 || got[0].Settlement.Decision != triggers.NotCheckpointed || got[0].Settlement.Note != cosmosdb.NoteLeaseLost {
		t.Fatalf("settlements %+v", got)
	}
	marker := strings.TrimSuffix(b.leaseID("", "0"), "..0") + ".info"
	if len(told) != 1 || !strings.Contains(told[0].Error(), marker) {
		t.Errorf("told %v", told)
	}
	b.removeLease(marker)
	b.clk.Advance(13 * time.Second)
	if diff := cmp.Diff([]string{"a", "a"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

// A lease container with another partition key than /id is refused: no lease could
// be found there.
func TestLeaseContainerKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.do(func(ctx context.Context) error {
		err := b.account.DeleteContainer(ctx, "shop", "leases")
		if err == nil {
			_, err = b.account.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "leases", PartitionKey: "/pk"})
		}
		return err
	})
	i := b.run(&cosmosdb.Options{CreateLeaseContainer: true}, nil)
	if !i.done || i.err == nil || !strings.Contains(i.err.Error(), `"leases"`) || !strings.Contains(i.err.Error(), "needs /id") {
		t.Errorf("ended %v: %v", i.done, i.err)
	}
}

// A host whose batch is tried again and again keeps its lease: it renews it.
func TestLongBatchKeepsLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.put("a")
	i := b.run(&cosmosdb.Options{Owner: "1", StartFromBeginning: true}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, time.Hour)
		return triggers.Result{Attempts: 1}
	})
	other := b.run(&cosmosdb.Options{Owner: "2", StartFromBeginning: true}, nil)
	b.clk.Advance(time.Hour)
	if diff := cmp.Diff([]triggers.Decision{triggers.Checkpointed}, i.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if got := other.batches(); len(got) != 0 {
		t.Errorf("the other host has run %q", got)
	}
}

// Of two hosts the second takes a lease of the first, whose run on that range ends:
// its token is cancelled, it writes nothing, and the second has the batch.
func TestTakeoverByAnotherHost(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	var ids []string
	for n := range 20 {
		ids = append(ids, fmt.Sprint(n))
	}
	b.put(ids...)
	first := b.run(&cosmosdb.Options{Owner: "1", StartFromBeginning: true}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, time.Hour)
		return triggers.Result{Err: ctx.Err(), Attempts: 1}
	})
	second := b.run(&cosmosdb.Options{Owner: "2", StartFromBeginning: true}, nil)
	b.clk.Advance(20 * time.Second)
	got := first.sink.Settlements()
	if len(got) != 1 || got[0].Settlement.Decision != triggers.NotCheckpointed || got[0].Settlement.Note != cosmosdb.NoteLeaseLost {
		t.Fatalf("settlements of the first host %+v", got)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Checkpointed}, second.decisions()); diff != "" {
		t.Errorf("decisions of the second host (-want +got):\n%s", diff)
	}
	if lost, taken := idsOf(got[0].Event), second.batches()[0]; lost != taken {
		t.Errorf("the first host lost %q, the second has %q", lost, taken)
	}
	if a, c := b.lease("0")["Owner"], b.lease("1")["Owner"]; a == c {
		t.Errorf("both leases belong to %v", a)
	}
}

// Somebody who changes a lease all the time cannot hold a host up.
func TestLeaseConflicts(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	conflicts := 0
	b.faults = func(p cosmos.FaultPoint) error {
		if p.Op == "Replace" && p.Container == "shop/leases" && !p.After {
			conflicts++
			return bindings.ErrConditionNotMet
		}
		return nil
	}
	i := b.run(&cosmosdb.Options{StartFromBeginning: true}, nil)
	if conflicts != 6 {
		t.Errorf("%d attempts, want 6", conflicts)
	}
	b.faults = nil
	b.put("a")
	b.clk.Advance(13 * time.Second)
	if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

// A lease is renewed after half an interval, and then after each whole one.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		interval time.Duration // 0: the default
		want     []string
	}{{0, []string{"0s", "8.5s", "25.5s", "42.5s"}}, {4 * time.Second, []string{"0s", "2s", "6s", "10s"}}} {
		t.Run(test.interval.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.run(nil, nil).end()
			var renewed []string
			b.faults = func(p cosmos.FaultPoint) error {
				if p.Op == "Replace" && p.After {
					renewed = append(renewed, b.clk.Now().Sub(start).String())
				}
				return nil
			}
			i := b.run(&cosmosdb.Options{RenewInterval: test.interval}, nil)
			for len(renewed) < len(test.want) {
				b.clk.Advance(500 * time.Millisecond)
			}
			if diff := cmp.Diff(test.want, renewed); diff != "" { // the first is the acquisition
				t.Errorf("changes of the lease (-want +got):\n%s", diff)
			}
			i.end()
		})
	}
}

// Of hosts that start together one makes the leases; a lock that its holder left
// behind holds nobody up for longer than 30 s.
func TestLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.put("a")
	info := b.feed.Info()
	id := fmt.Sprintf("localhost_%s_%s.lock", info.DatabaseRID, info.RID)
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err == nil {
			_, err = c.Create(ctx, fmt.Appendf(nil, `{"id":%q,"ttl":30}`, id))
		}
		return err
	})
	i := b.run(&cosmosdb.Options{StartFromBeginning: true}, nil)
	b.clk.Advance(29 * time.Second)
	if got := i.batches(); len(got) != 0 {
		t.Errorf("under another host's lock: %q", got)
	}
	b.clk.Advance(time.Second)
	if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if b.documents()[id] != nil {
		t.Error("the lock is still there")
	}
}
