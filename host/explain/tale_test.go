package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// tale builds the records of one instance.
type tale struct {
	now     time.Time
	records []journal.Record
}

func (t *tale) at(d time.Duration) *tale { t.now = instance.Add(d); return t }

var instance = time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)

func (t *tale) add(r journal.Record, fields ...string) *tale {
	r.Seq, r.Time, r.Service, r.Source, r.MessageID = uint64(len(t.records)+1), t.now, journal.Durable, "TestHubName", "order-7"
	if r.Function == "" {
		r.Function = "Order"
	}
	for i := 0; i < len(fields); i += 2 {
		r.Fields = append(r.Fields, journal.Field{Key: fields[i], Value: fields[i+1]})
	}
	t.records = append(t.records, r)
	return t
}

func (t *tale) task(number, what, name string, fields ...string) *tale {
	return t.add(journal.Record{Kind: journal.TaskScheduled, Name: name}, append([]string{"number", number, "what", what}, fields...)...)
}

func (t *tale) timer(number, what string, d time.Duration) *tale {
	return t.add(journal.Record{Kind: journal.TaskScheduled, Name: "timer", Delay: d, HasDelay: true}, "number", number, "what", what)
}

func (t *tale) ended(number, status, failure string) *tale {
	return t.add(journal.Record{Kind: journal.TaskEnded, Status: status, Error: failure}, "number", number)
}

// The timeline of spec durable 12.2: pieces of a timer and the waits of retries are one line
// with what they belong to, and replays none.
func TestTale(t *testing.T) {
	t.Parallel()
	const day, hour = 24 * time.Hour, time.Hour
	b := (&tale{}).at(0)
	b.add(journal.Record{Kind: journal.InstanceStarted, Cause: "http"}, "execution", "e1", "input", `{"amount":12}`)
	b.task("0", "activity", "Charge", "attemptOf", "1/4").ended("0", "failed", "Activity function 'Charge' failed: payment service unavailable").timer("1", "retry", hour)
	b.at(hour).ended("1", "fired", "").task("2", "activity", "Charge", "attemptOf", "2/4").ended("2", "failed", "payment service unavailable").timer("3", "retry", 2*hour)
	b.at(3*hour).ended("3", "fired", "").task("4", "activity", "Charge", "attemptOf", "3/4").ended("4", "succeeded", "")
	b.timer("5", "piece", 3*day)
	before := "5"
	for i, number := range []string{"6", "7", "8"} {
		at := 3*hour + time.Duration(i+1)*3*day
		// At a pace of its own the clock is a little later than the piece before was due.
		late := time.Duration(i) * 100 * time.Microsecond
		b.at(at+late).ended(before, "fired", "").timer(number, "piece", min(3*day, 3*hour+10*day-at))
		before = number
	}
	b.at(3*hour+10*day).ended("8", "fired", "")
	b.add(journal.Record{Kind: journal.DurableFinding, Name: "open_tasks", Message: "Order has returned, and Charge #4 is open"})
	b.add(journal.Record{Kind: journal.InstanceEnded, Status: "completed", Delay: 10*day + 3*hour, HasDelay: true}, "turns", "12", "output", `"done"`)
	// Another instance, whose id begins with the same letters.
	other := b.records[0]
	other.MessageID = "order-70"
	b.records = append(b.records, other)

	tales := explain.Tales(b.records, "order-7")
	if len(tales) != 1 {
		t.Fatalf("%d tales, want 1", len(tales))
	}
	const want = `
orchestration order-7 of TestHubName, function Order
  09:00:00   order-7     Order started by http                           {"amount":12}
  09:00:00   Charge #0   attempt 1 of 4 failed                           payment service unavailable
  09:00:00   waits 1h    retry, timer #1
  10:00:00   Charge #2   attempt 2 of 4 failed                           payment service unavailable
  10:00:00   waits 2h    retry, timer #3
  12:00:00   Charge #4   attempt 3 of 4 ok
  12:00:00   waits 10d   timer #5, #6, #7, #8 (pieces of 3 days)
  +10d3h     ! open_tasks  Order has returned, and Charge #4 is open
  +10d3h     order-7     completed after 10d3h, 3 activities, 12 turns   "done"
`
	got := "\n" + tales[0].Text()
	if diff := cmp.Diff(squeezed(want), squeezed(got)); diff != "" {
		t.Errorf("tale (-want +got):\n%s", diff)
	}
	if tales := explain.Tales(b.records, "order-"); len(tales) != 2 {
		t.Errorf("a beginning means %d instances, want 2", len(tales))
	}
	told := explain.Told{}
	told.Tell(b.records, explain.Subject{Message: "order-7"}, 20)
	if len(told.Lives) != 0 || len(told.Orchestrations) != 1 {
		t.Errorf("Tell: %d lives and %d instances, want none and one", len(told.Lives), len(told.Orchestrations))
	}
}

// squeezed has one blank for each row of blanks.
func squeezed(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// What is cancelled, raised, commanded, aborted and done again, and what an instance waits for.
func TestTaleOfTheRest(t *testing.T) {
	t.Parallel()
	b := (&tale{}).at(0)
	b.add(journal.Record{Kind: journal.InstanceStarted, Cause: "parent"}, "parent", "p1", "number", "3")
	b.timer("0", "timer", 72*time.Hour).task("1", "child", "Kid", "instance", "e1:1").task("2", "signal", "@counter@k")
	b.at(47*time.Hour).add(journal.Record{Kind: journal.EventRaised, Name: "ok", Status: "delivered"}, "by", "http")
	b.ended("0", "cancelled", "").ended("1", "failed", "Orchestrator function 'Kid' failed: no")
	b.add(journal.Record{Kind: journal.InstanceControlled, Status: "suspend", Cause: "cli", Error: "wait"})
	b.add(journal.Record{Kind: journal.OrchestrationTurn, Status: "aborted", Error: "the host stops", Delay: 2 * time.Second}, "turn", "3")
	b.add(journal.Record{Kind: journal.InstanceStarted, Cause: "continueAsNew"})
	b.add(journal.Record{Kind: journal.OrchestrationTurn, Status: "waits"}, "open", "event ok timer#0")
	const want = `
orchestration order-7 of TestHubName, function Order
09:00:00 order-7 Order started by p1 #3
09:00:00 waits 1d23h timer #0, cancelled
09:00:00 Kid #1 child e1:1 started
09:00:00 @counter@k signalled, #2
+1d23h event ok delivered by http
+1d23h Kid #1 failed no
+1d23h order-7 suspend by cli wait
+1d23h order-7 turn 3 aborted, again in 2s the host stops
+1d23h order-7 Order started as new: its history is empty
next waits for event ok timer#0
`
	if diff := cmp.Diff(squeezed(want), squeezed("\n"+explain.Tales(b.records, "")[0].Text())); diff != "" {
		t.Errorf("tale (-want +got):\n%s", diff)
	}
}
