package explain_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// What is told of lives that a purge ends takes room as everything does.
func TestPurgedLivesTakeRoom(t *testing.T) {
	t.Parallel()
	const most = 100
	j := newTales(most)
	for i := range 500 {
		j.add(journal.Enqueued, journal.Record{Source: "orders", MessageID: fmt.Sprint(i)})
		j.add(journal.Purged, journal.Record{Source: "orders"})
	}
	j.add(journal.Enqueued, journal.Record{Source: "orders", MessageID: "last"})
	if n := len(j.Lives); n > most {
		t.Errorf("%d lives are kept, with room for %d records", n, most)
	}
}

// Many messages that wait have few records each: their lives are counted too.
func TestMostLives(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 10_000} {
		j := newTales(most)
		j.Teller.MostLives = 20
		j.delivery("over", 1, 1, triggers.Deleted, "")
		for i := range 21 {
			j.add(journal.Enqueued, journal.Record{Source: "orders", MessageID: fmt.Sprint(i)})
		}
		if n := len(j.Lives); n < 10 || n > 20 || len(j.Of("over")) > 0 || len(j.Of("20")) == 0 {
			t.Errorf("%d lives are kept, of room for 20", n)
		}
	}
}

// A life that was let go while its message was in work is not told again.
func TestDroppedInWork(t *testing.T) {
	t.Parallel()
	const most = 20
	j := newTales(most)
	of := journal.Record{Function: "Orders", Trigger: "queueTrigger", Source: "orders", MessageID: "m", Delivery: "d"}
	j.add(journal.Received, of)
	for i := range 2 * most {
		j.add(journal.Enqueued, journal.Record{Source: "orders", MessageID: fmt.Sprint(i)})
	}
	if len(j.Of("m")) != 0 {
		t.Fatal("the life of m was kept")
	}
	of.Attempt = 1
	j.add(journal.AttemptStarted, of)
	of.Attempt, of.Decision = 0, string(triggers.Deleted)
	j.add(journal.Settled, of)
	if list := j.Of("m"); len(list) != 0 {
		t.Errorf("told again: %+v", list[0])
	}
	for i := range 10 * most {
		j.delivery(fmt.Sprint("n", i), 1, 1, triggers.Deleted, "")
	}
	if n := len(j.Lives); n > most {
		t.Errorf("%d lives are kept, with room for %d records", n, most)
	}
}

// Times before 1970 and waits that go back are JSON.
func TestTimesBelowZero(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{time.Date(1969, 12, 31, 23, 59, 59, 999_500_000, time.UTC), time.Date(1960, 1, 1, 0, 0, 0, 1_234_000, time.UTC), {}} {
		c := explain.Changes{Now: float64(at.UnixMicro()) / 1e3}
		var got explain.Changes
		text := c.AppendJSON(nil)
		if err := json.Unmarshal(text, &got); err != nil || got.Now != c.Now {
			t.Errorf("%v = %s, %v", at, text, err)
		}
	}
}
