package cosmosdb_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// A lease of an older version is understood.
func TestOlderLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.put("a", "b")
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err != nil {
			return err
		}
		base := b.leaseID("", "0")
		_, err = c.Create(ctx, fmt.Appendf(nil, `{"id":%q,"PartitionId":"0","Owner":null,"ContinuationToken":"\"1\""}`, base))
		return err
	})
	i := b.run(nil, nil)
	if diff := cmp.Diff([]string{"b"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
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
	if cancelledAt != 17*time.Second {
		t.Errorf("cancelled after %v, want at the renewal after 17s", cancelledAt)
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
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err != nil {
			return err
		}
		id := b.leaseID("", "0")
		at, err := b.clk.Now().UTC().MarshalText()
		if err != nil {
			return err
		}
		_, err = c.Replace(ctx, fmt.Appendf(nil, `{"id":%q,"LeaseToken":"0","Owner":%q,"ContinuationToken":null,"timestamp":%q}`, id, owner, at), "")
		return err
	})
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

// A lease that is not what it should be is told, harms no other range, and is read
// again when somebody has put it right.
func TestCorruptLease(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"token":        `{"id":%q,"LeaseToken":"0","Owner":null,"ContinuationToken":"abc"}`,
		"future token": `{"id":%q,"LeaseToken":"0","Owner":null,"ContinuationToken":"\"99\""}`,
		"no range":     `{"id":%q,"Owner":null}`,
		"types":        `{"id":%q,"LeaseToken":7,"Owner":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			b.run(nil, nil).end()
			b.do(func(ctx context.Context) error {
				c, err := b.account.Container(ctx, "shop", "leases")
				if err == nil {
					_, err = c.Replace(ctx, fmt.Appendf(nil, document, b.leaseID("", "0")), "")
				}
				return err
			})
			told := map[string]bool{}
			i := b.run(&cosmosdb.Options{StartFromBeginning: true, Notify: func(lease string, _ error) { told[lease] = true }}, nil)
			var all []string
			for n := range 20 {
				all = append(all, fmt.Sprint(n))
			}
			b.put(all...)
			b.clk.Advance(time.Minute)
			if !told[b.leaseID("", "0")] || len(told) != 1 {
				t.Errorf("told of %v", told)
			}
			if len(i.batches()) == 0 {
				t.Error("the other range stands still")
			}
			b.do(func(ctx context.Context) error {
				c, err := b.account.Container(ctx, "shop", "leases")
				if err == nil {
					_, err = c.Replace(ctx, fmt.Appendf(nil, `{"id":%q,"LeaseToken":"0"}`, b.leaseID("", "0")), "")
				}
				return err
			})
			b.clk.Advance(13 * time.Second)
			seen := 0
			for _, ids := range i.batches() {
				seen += len(ids) - len(slices.DeleteFunc([]byte(ids), func(c byte) bool { return c == ',' })) + 1
			}
			if seen != len(all) {
				t.Errorf("%d of %d changes seen: %q", seen, len(all), i.batches())
			}
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
