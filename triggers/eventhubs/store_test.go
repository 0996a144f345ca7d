package eventhubs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
)

// put writes a blob of the checkpoint store.
func (w *world) put(name, content string, metadata map[string]string) {
	w.Helper()
	w.do(func(ctx context.Context) error {
		if err := eventhubs.NewStore(w.container(), "n", "h", "g").Prepare(ctx); err != nil {
			return err
		}
		_, err := w.container().Blob(name).Put(ctx, strings.NewReader(content), &blob.PutOptions{Metadata: metadata})
		return err
	})
}

// Contents of the checkpoint store, and the position from which the partition, with
// the events a and b, is then read.
func TestCheckpointsOfOthers(t *testing.T) {
	t.Parallel()
	all, rest := []string{"0: a", "0: b"}, []string{"0: b"}
	for name, test := range map[string]struct {
		metadata map[string]string // of the checkpoint; nil: none
		legacy   string            // content of the old blob
		want     []string
		told     bool
	}{
		"number":                 {metadata: map[string]string{"sequencenumber": "0", "offset": ""}, want: rest},
		"number without offset":  {metadata: map[string]string{"sequencenumber": "0"}, want: rest},
		"number before offset":   {metadata: map[string]string{"sequencenumber": "0", "offset": "99"}, want: rest},
		"the last number":        {metadata: map[string]string{"sequencenumber": "1", "offset": "0"}, want: nil},
		"names in upper case":    {metadata: map[string]string{"SequenceNumber": "0", "Offset": "99"}, want: rest},
		"offset only":            {metadata: map[string]string{"sequencenumber": "", "offset": "0"}, want: rest},
		"offset, no number":      {metadata: map[string]string{"offset": "0"}, want: rest},
		"offset, number damaged": {metadata: map[string]string{"sequencenumber": "0x1", "offset": "0"}, want: rest},
		"offset, number below 0": {metadata: map[string]string{"sequencenumber": "-1", "offset": "0"}, want: rest},
		"number too large":       {metadata: map[string]string{"sequencenumber": "9223372036854775808", "offset": "0"}, want: rest},
		"both empty":             {metadata: map[string]string{"sequencenumber": "", "offset": ""}, want: all},
		"foreign":                {metadata: map[string]string{"color": "red"}, want: all},
		"no metadata":            {metadata: map[string]string{}, want: all},
		"offset damaged":         {metadata: map[string]string{"sequencenumber": "x", "offset": "y"}, want: all, told: true},
		"offset below 0":         {metadata: map[string]string{"offset": "-7"}, want: all, told: true},
		"number behind the end":  {metadata: map[string]string{"sequencenumber": "2", "offset": "0"}, want: all, told: true},
		"offset behind the end":  {metadata: map[string]string{"offset": "99999"}, want: all, told: true},
		"legacy":                 {legacy: `{"Offset":"0","SequenceNumber":0,"PartitionId":"0","Owner":"o","Token":"t","Epoch":3}`, want: rest},
		"legacy of nothing read": {legacy: `{"Offset":"","SequenceNumber":0,"PartitionId":"0","Owner":"","Token":"","Epoch":1}`, want: all},
		"legacy, nothing known":  {legacy: `{"Offset":null,"SequenceNumber":0}`, want: all},
		"legacy, damaged":        {legacy: `{"Offset":`, want: all},
		"legacy, not an object":  {legacy: `[1]`, want: all},
		"legacy, other types":    {legacy: `{"Offset":0,"SequenceNumber":"0"}`, want: all},
		"legacy, empty":          {legacy: " ", want: all},
		"legacy, endless":        {legacy: `{"Offset":"0","Token":"` + strings.Repeat("t", 1<<20) + `"}`, want: all},
		"legacy, behind the end": {legacy: `{"Offset":"99999","SequenceNumber":7}`, want: all, told: true},
		"legacy and new":         {metadata: map[string]string{"sequencenumber": "1"}, legacy: `{"Offset":"0","SequenceNumber":0}`, want: nil},
		"legacy and new, empty":  {metadata: map[string]string{"offset": ""}, legacy: `{"Offset":"0","SequenceNumber":0}`, want: all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.send(0, "a", "b")
			if test.metadata != nil {
				w.put(checkpoints+"0", "", test.metadata)
			}
			if test.legacy != "" {
				w.put("contoso.local/orders/$default/0", test.legacy, nil)
			}
			var told []string
			r := w.listen(&eventhubs.Options{Notify: func(source, what string, err error) { told = append(told, fmt.Sprint(source, ": ", what, ": ", err)) }}, nil)
			w.wantHandled(r, test.want...)
			if test.told != (len(told) == 1) || test.told && !strings.Contains(told[0], "$Default/Partitions/0: the checkpoint is not one of this partition") {
				t.Errorf("told %q", told)
			}
			w.send(0, "c") // and it goes on
			w.wantHandled(r, append(test.want, "0: c")...)
			if got := w.sequence(0); got != "2" {
				t.Errorf("checkpoint %q at the end, want 2", got)
			}
		})
	}
}

// Contents of a partition's ownership blob, and whether a new listener takes the
// partition at once, or only when the ownership expires.
func TestOwnershipsOfOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		metadata map[string]string
		atOnce   bool
	}{
		"somebody's":    {map[string]string{"ownerid": "other"}, false},
		"in upper case": {map[string]string{"OwnerId": "other"}, false},
		"given back":    {map[string]string{"ownerid": ""}, true},
		"its own":       {map[string]string{"ownerid": "me"}, true},
		"foreign":       {map[string]string{"color": "red"}, true},
		"no metadata":   {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.put(ownerships+"0", "", test.metadata)
			w.put(ownerships+"77", "", map[string]string{"ownerid": "other"}) // of no partition
			w.put(ownerships+"x/y", "content", nil)
			r := w.listen(&eventhubs.Options{Owner: "me"}, nil)
			w.send(0, "a")
			if got := len(r.Handled()) == 1; got != test.atOnce {
				t.Errorf("taken at once: %v, want %v", got, test.atOnce)
			}
			w.clk.Advance(2*time.Minute + 31*time.Second)
			w.wantHandled(r, "0: a")
			if got := w.owners(1); got != "me" {
				t.Errorf("owner %q, want me", got)
			}
		})
	}
}

// Another host that takes the partition during a batch: no checkpoint, though the
// listener has not looked yet; it reads no more.
func TestLostBeforeTheLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{Batch: true, MaxEventBatchSize: 1, Owner: "me"}, func(ctx context.Context, _ *triggers.Event) error {
		return w.clk.Sleep(ctx, 10*time.Second)
	})
	w.send(0, "a", "b")
	w.put(ownerships+"0", "", map[string]string{"ownerid": "other"})
	w.clk.Advance(20 * time.Second)
	w.wantHandled(r, "0: a")
	if diff := cmp.Diff([]string{"not_checkpointed"}, r.decisions()); diff != "" || w.sequence(0) != "" {
		t.Errorf("checkpoint %q, decisions (-want +got):\n%s", w.sequence(0), diff)
	}
	w.clk.Advance(3 * time.Minute) // the other one does not renew it
	if diff := cmp.Diff([]string{"not_checkpointed", "checkpointed", "checkpointed"}, r.decisions()); diff != "" {
		t.Errorf("decisions after the expiration (-want +got):\n%s", diff)
	}
}

// A store that fails for a while: the listener says so, and goes on where it was.
func TestStoreFailsForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.send(0, "a")
	broken := true
	w.fault = func(p storage.FaultPoint) error {
		if broken && p.Blob == checkpoints+"0" {
			return bindings.ErrUnavailable
		}
		return nil
	}
	var told []string
	r := w.listen(&eventhubs.Options{Notify: func(_, what string, err error) { told = append(told, fmt.Sprint(what, ": ", err)) }}, nil)
	w.wantHandled(r)
	if len(told) != 1 || !strings.HasPrefix(told[0], "a partition cannot be read and will be tried again: read the checkpoint") {
		t.Errorf("told %q", told)
	}
	broken = false
	w.clk.Advance(30 * time.Second)
	w.wantHandled(r, "0: a")
}

// A reader of a higher epoch keeps the listener out, which says so and comes back when
// it has gone.
func TestHigherEpoch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var reader eventhubsapi.Reader
	level := int64(3)
	w.do(func(ctx context.Context) (err error) {
		reader, err = w.ns.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, &eventhubsapi.ReaderOptions{OwnerLevel: &level, Name: "tool"})
		return err
	})
	told := 0
	r := w.listen(&eventhubs.Options{Notify: func(string, string, error) { told++ }}, nil)
	w.send(0, "a")
	w.clk.Advance(30 * time.Second)
	w.wantHandled(r)
	if told != 2 {
		t.Errorf("told %d times in two looks, want 2", told)
	}
	w.do(func(ctx context.Context) error { return reader.Close(ctx) })
	w.clk.Advance(30 * time.Second)
	w.wantHandled(r, "0: a")
}

// A waiting batch is dropped when the partition is lost: the other host has all of it,
// and there is no checkpoint.
func TestMinimumBatchIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	opts := func(owner string) *eventhubs.Options {
		return &eventhubs.Options{Batch: true, MinEventBatchSize: 3, MaxWait: 10 * time.Minute, Owner: owner}
	}
	a := w.listen(opts("a"), nil)
	w.send(1, "first") // no checkpoint yet: at once
	w.send(1, "x", "y")
	b := w.listen(opts("b"), nil)
	w.clk.Advance(time.Minute) // the first host has found out
	w.wantHandled(a, "1: first")
	w.send(1, "z")
	w.wantHandled(a, "1: first")
	w.wantHandled(b, "1: x y z")
	if got := w.sequence(1); got != "3" {
		t.Errorf("checkpoint %q, want 3", got)
	}
}

// Every part of a path is in lower case; the owner's name is not.
func TestPathsAreLowerCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.do(func(ctx context.Context) error { return w.ns.CreateConsumerGroup(ctx, "orders", "Billing.EU") })
	w.send(0, "a")
	w.listen(&eventhubs.Options{ConsumerGroup: "Billing.EU", Owner: "Host-A/Read"}, nil)
	var names []string
	w.do(func(ctx context.Context) error {
		page, err := w.container().Blobs(ctx, nil)
		if err != nil {
			return err
		}
		for _, b := range page.Blobs {
			names = append(names, b.Name)
		}
		return nil
	})
	want := []string{"contoso.local/orders/billing.eu/checkpoint/0", "contoso.local/orders/billing.eu/ownership/0"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
	if got := w.metadata(want[0])["clientidentifier"] + " " + w.metadata(want[1])["ownerid"]; got != "Host-A/Read Host-A/Read" {
		t.Errorf("client and owner %q", got)
	}
}

// A checkpoint that somebody removed is written anew, with the number of then.
func TestCheckpointIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{Batch: true, Owner: "me"}, nil)
	w.send(0, "a")
	w.do(func(ctx context.Context) error { return w.container().Blob(checkpoints+"0").Delete(ctx, nil) })
	w.send(0, "b")
	if diff := cmp.Diff([]string{"checkpointed", "checkpointed"}, r.decisions()); diff != "" || w.sequence(0) != "1" {
		t.Errorf("checkpoint %q, decisions (-want +got):\n%s", w.sequence(0), diff)
	}
}

// Events since the last checkpoint run again, in order, on the next host.
func TestReplaySinceTheCheckpoint(t *testing.T) {
	t.Parallel()
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			opts := &eventhubs.Options{Batch: batch, MaxEventBatchSize: 2, CheckpointFrequency: 2}
			first := w.listen(opts, nil)
			w.send(0, "a", "b", "c", "d", "e", "f")
			first.stop()
			if got := w.sequence(0); got != "3" {
				t.Errorf("checkpoint %q after three batches of two, want 3", got)
			}
			second := w.listen(opts, nil)
			w.send(0, "g", "h")
			if batch {
				w.wantHandled(second, "0: e f", "0: g h")
			} else {
				w.wantHandled(second, "0: e", "0: f", "0: g", "0: h")
			}
			if got := w.sequence(0); got != "7" {
				t.Errorf("checkpoint %q, want 7", got)
			}
		})
	}
}
