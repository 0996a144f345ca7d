package journal_test

import (
	"runtime"
	"testing"

	"github.com/redeliver/redeliver/host/journal"
)

// TestRecordTakesFewBytes appends as an attempt does. It is not parallel: it counts what
// the process allocates.
func TestRecordTakesFewBytes(t *testing.T) {
	const records, most = 100_000, 48
	for name, opts := range map[string]*journal.Options{
		"unwatched":                 nil,
		"watched, wanted by nobody": {Watch: func() func(*journal.Record) { return nil }},
	} {
		j := journal.New(fixed, opts)
		r := journal.Record{Kind: journal.AttemptEnded, Function: "Orders", Delivery: "d-1", Attempt: 1, Status: "failed", Error: "broken"}
		got := allocated(func() {
			for range records {
				j.Append(r)
			}
		}) / records
		if got > most {
			t.Errorf("%s: a record allocates %d bytes, want %d at the most", name, got, most)
		}
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWatch(t *testing.T) {
	t.Parallel()
	var seen []uint64
	wanted := true
	j := journal.New(fixed, &journal.Options{Watch: func() func(*journal.Record) {
		if !wanted {
			return nil
		}
		return func(r *journal.Record) { seen = append(seen, r.Seq) }
	}})
	for _, wanted = range []bool{true, false, true} {
		j.Append(journal.Record{Kind: journal.Enqueued})
	}
	if len(seen) != 2 || seen[0] != 1 || seen[1] != 3 {
		t.Errorf("seen records %v, want 1 and 3", seen)
	}
}
