package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// at numbers records and gives them their times, in seconds.
func at(seconds ...int) func(records ...journal.Record) []journal.Record {
	return func(records ...journal.Record) []journal.Record {
		for i := range records {
			records[i].Seq, records[i].Time = uint64(i+1), start.Add(time.Duration(seconds[i])*time.Second)
		}
		return records
	}
}

// of is a record of the function Ship.
func of(kind journal.Kind, more journal.Record) journal.Record {
	more.Kind, more.Function, more.Trigger, more.Source = kind, "Ship", "queueTrigger", "parcels"
	if more.MessageID == "" {
		more.MessageID = "m1"
	}
	more.Delivery, more.HasPolicy, more.MaxRetryCount = "d1", true, 2
	return more
}

// A life that goes on says what comes next, and when.
func TestWhatComesNext(t *testing.T) {
	t.Parallel()
	waiting := []journal.Record{
		{Kind: journal.Enqueued, Source: "parcels", MessageID: "m1"},
		of(journal.Received, journal.Record{DeliveryCount: 1}),
		of(journal.AttemptStarted, journal.Record{Attempt: 1}),
		of(journal.AttemptEnded, journal.Record{Attempt: 1, Status: "timed_out", Error: "function \"Ship\": *errors.errorString: too slow\nmore"}),
		of(journal.RetryScheduled, journal.Record{Attempt: 2, Delay: 10 * time.Second, HasDelay: true}),
	}
	crashed := append(waiting[:5:5], journal.Record{Kind: journal.HostStarted}, journal.Record{Kind: journal.GenerationLoaded, Generation: 1})
	for name, test := range map[string]struct {
		records []journal.Record
		next    string
		in      time.Duration // of NextAt from the start; 0: none
		over    bool
	}{
		"enqueued":          {at(0)(waiting[:1]...), "a listener receives it", 0, false},
		"received":          {at(0, 1)(waiting[:2]...), "the first attempt begins", 0, false},
		"an attempt runs":   {at(0, 1, 1)(waiting[:3]...), "attempt 1 of 3 ends", 0, false},
		"an attempt failed": {at(0, 1, 1, 4)(waiting[:4]...), "the trigger settles the delivery", 0, false},
		"a retry waits":     {at(0, 1, 1, 4, 4)(waiting...), "attempt 2 of 3", 14 * time.Second, false},
		"the host crashed":  {at(0, 1, 1, 4, 4, 7, 7)(crashed...), "the message comes again when its lock ends, where its source redelivers", 0, false},
		"deleted":           {at(0, 1)(waiting[1], of(journal.Settled, journal.Record{Decision: "deleted"})), "nothing: the function has succeeded, and the message is deleted", 0, true},
		"released":          {at(0, 1)(waiting[1], of(journal.Settled, journal.Record{Decision: "released"})), "the queue delivers it again", 0, false},
		"not settled":       {at(0, 1)(waiting[1], of(journal.Settled, journal.Record{Decision: "deleted", Error: "gone"})), "the settlement has failed: the message may come again", 0, false},
	} {
		lives := explain.Explain(test.records, explain.Subject{})
		if len(lives) != 1 {
			t.Errorf("%s: %d lives, want 1", name, len(lives))
			continue
		}
		l := lives[0]
		var in time.Duration
		if l.NextAt != nil {
			in = l.NextAt.Sub(start)
		}
		if l.Next != test.next || in != test.in || l.Over != test.over {
			t.Errorf("%s: next %q in %v, over %v; want %q in %v, %v", name, l.Next, in, l.Over, test.next, test.in, test.over)
		}
	}

	got := explain.Explain(at(0, 1, 1, 4, 4)(waiting...), explain.Subject{
		Report: &app.Report{Functions: []app.FunctionReport{{Name: "ship", Attempts: 3, Deliveries: 5, Total: 15, End: `queue "parcels-poison"`}}},
	})[0].Text()
	want := `message m1 of parcels, function Ship (queueTrigger)
  retry     none
  expected  3 per delivery × 5 deliveries = 15, then queue "parcels-poison"
  begins    2030-01-01 00:00:00.000 UTC
  +0s          enqueued in parcels
  +1s          delivery 1 of 5 (d1)
  +4s            attempt 1 of 3 timed out after 3s: too slow; policy: retry in 10s
  next      attempt 2 of 3 at +14s (00:00:14.000 UTC)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// A subject is a message, the beginning of its identity, its copy, a delivery, an
// invocation, or a function.
func TestSubjects(t *testing.T) {
	t.Parallel()
	records := at(0, 0, 0, 0, 0, 0)(
		journal.Record{Kind: journal.Enqueued, Source: "parcels", MessageID: "m1"},
		of(journal.Received, journal.Record{}),
		of(journal.AttemptStarted, journal.Record{Attempt: 1, Invocation: "i9"}),
		journal.Record{Kind: journal.Enqueued, Source: "parcels-poison", MessageID: "copy"},
		of(journal.Settled, journal.Record{Decision: "poisoned", Target: "parcels-poison", Fields: []journal.Field{{Key: "new_message_id", Value: "copy"}}}),
		journal.Record{Kind: journal.Enqueued, Source: "other", MessageID: "x2"},
	)
	for _, test := range []struct {
		about explain.Subject
		want  string
	}{
		{explain.Subject{}, "m1 copy x2"},
		{explain.Subject{Message: "M1"}, "m1"},
		{explain.Subject{Message: "m"}, "m1"},
		{explain.Subject{Message: "co"}, "m1 copy"},
		{explain.Subject{Message: "d1"}, "m1"},
		{explain.Subject{Message: "i9"}, "m1"},
		{explain.Subject{Message: "i"}, ""},
		{explain.Subject{Function: "SHIP"}, "m1"},
		{explain.Subject{Function: "Ship", Message: "x"}, ""},
	} {
		var got []string
		for _, l := range explain.Explain(records, test.about) {
			got = append(got, l.Message)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: %q, want %q", test.about, got, test.want)
		}
	}
}

// Topics deliver a message to the function of each subscription: each has a life of it,
// with the same beginning.
func TestOneMessageForTwoFunctions(t *testing.T) {
	t.Parallel()
	second := of(journal.Received, journal.Record{})
	second.Function = "Bill"
	lives := explain.Explain(at(0, 1, 2, 3)(
		journal.Record{Kind: journal.Enqueued, Source: "events", MessageID: "m1"},
		of(journal.Received, journal.Record{}), second,
		of(journal.Settled, journal.Record{Decision: "completed"}),
	), explain.Subject{})
	if len(lives) != 2 || len(lives[0].Entries) != 3 || len(lives[1].Entries) != 2 || lives[1].Entries[0].Seq != 1 || !lives[0].Over || lives[1].Over {
		t.Errorf("lives: %+v", lives)
	}
}

// The formula of a wait has its bounds, and belongs to the policy that gave the wait.
func TestFormulas(t *testing.T) {
	t.Parallel()
	p := &retrycontext.Policy{Strategy: retrycontext.ExponentialBackoff, MaxRetryCount: 9, MinimumInterval: 10 * time.Second, MaximumInterval: time.Minute}
	for n, want := range map[int]string{
		0: "", 1: "minimumInterval", 4: "minimumInterval × (1 + 2^2 × 0.8 to 1.2), at most maximumInterval: 42s to 58s", 9: "maximumInterval",
	} {
		if got := p.Formula(n); got != want {
			t.Errorf("retry %d: %q, want %q", n, got, want)
		}
	}
	if got := (&retrycontext.Policy{Strategy: retrycontext.FixedDelay}).Formula(3); got != "delayInterval" {
		t.Errorf("fixed: %q", got)
	}
	if got := (*retrycontext.Policy)(nil).Formula(1); got != "" {
		t.Errorf("no policy: %q", got)
	}
}

// What a service does with the copy of one subscription is no part of the life that the
// message has at another, nor is a message of the same identity in another entity.
func TestMessageOfTwoEntities(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][3]string{ // of the functions' sources, and the services' for the second
		"subscriptions": {"orders/Subscriptions/ship", "orders/Subscriptions/bill", "orders/subscriptions/bill"},
		"events":        {"SHIP", "BILL", "shop/bill"},
		"queues":        {"parcels", "bills", "bills"},
	} {
		in := func(kind journal.Kind, function, source string, more journal.Record) journal.Record {
			more = of(kind, more)
			more.Function, more.Source, more.Delivery = function, source, function
			return more
		}
		lives := explain.Explain(at(0, 1, 2, 3, 4, 5, 6)(
			journal.Record{Kind: journal.Enqueued, Source: names[2], MessageID: "m1"},
			in(journal.Received, "Ship", names[0], journal.Record{}),
			in(journal.Received, "Bill", names[1], journal.Record{}),
			in(journal.Settled, "Ship", names[0], journal.Record{Decision: "completed"}),
			journal.Record{Kind: journal.DeadLettered, Source: names[2], Target: names[2] + "/$DeadLetterQueue", MessageID: "m1"},
			journal.Record{Kind: journal.Enqueued, Source: "other", MessageID: "m1"},
			journal.Record{Kind: journal.Forwarded, Source: names[2] + "/$DeadLetterQueue", Target: names[2], MessageID: "m1", Cause: "redrive"},
		), explain.Subject{})
		var got []string
		for _, l := range lives {
			got = append(got, l.Function+": "+l.Next)
		}
		want := []string{
			"Ship: nothing: the function has succeeded, and the message is completed",
			"Bill: a listener of " + names[2] + " receives it",
			": a listener receives it",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A message that is not the first of its batch has a life too: the batch ends it.
func TestBatches(t *testing.T) {
	t.Parallel()
	for decision, next := range map[string]string{
		"completed": "nothing: the function has succeeded, and the message is completed",
		"abandoned": "the entity delivers it again",
		"":          "the batch d1 ends",
	} {
		batch := of(journal.Received, journal.Record{Beside: journal.Beside{Batch: `["m1","m2",""]`}})
		records := []journal.Record{
			{Kind: journal.Enqueued, Source: "parcels", MessageID: "m1"}, {Kind: journal.Enqueued, Source: "parcels", MessageID: "m2"},
			batch, of(journal.Settled, journal.Record{Decision: decision}),
		}
		if decision == "" {
			records = records[:3]
		}
		lives := explain.Explain(at(0, 0, 1, 2)(records...), explain.Subject{Message: "m2"})
		if len(lives) != 1 || lives[0].Next != next || !strings.Contains(lives[0].Entries[1].Text, "Ship receives it in a batch, as d1") {
			t.Errorf("%s: %+v", decision, lives)
		}
	}
}

// Ticks and requests have no identity but their delivery, whose name each run of the host
// gives anew: they are different ones. A message stays one over all runs.
func TestRuns(t *testing.T) {
	t.Parallel()
	tick := func(kind journal.Kind, more journal.Record) journal.Record {
		more.Kind, more.Function, more.Trigger, more.Delivery = kind, "Tick", "timerTrigger", "d1"
		return more
	}
	before := at(0, 1, 1, 2, 2, 3)(
		journal.Record{Kind: journal.HostStarted, Name: "app"},
		tick(journal.Received, journal.Record{}),
		tick(journal.Settled, journal.Record{Decision: "recorded"}),
		journal.Record{Kind: journal.Enqueued, Source: "parcels", MessageID: "m1"},
		of(journal.Received, journal.Record{}),
		of(journal.Settled, journal.Record{Decision: "released"}),
	)
	after := at(9, 9, 9, 9)(
		journal.Record{Kind: journal.HostStarted, Name: "app"},
		tick(journal.Received, journal.Record{}),
		tick(journal.Settled, journal.Record{Decision: "recorded"}),
		of(journal.Received, journal.Record{}),
	)
	var got []string
	for _, l := range explain.Explain(append(before, after...), explain.Subject{}) {
		got = append(got, l.Function+" "+strings.Join(l.Lines(start), " | "))
	}
	want := []string{
		"Tick +1s          delivery d1 | +1s          recorded",
		"Ship +2s          enqueued in parcels | +2s          delivery d1 | +3s          released: the queue delivers it again | +9s          the host has started again | +9s          delivery d1, 6s after the last",
		"Tick +9s          delivery d1 | +9s          recorded",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lives (-want +got):\n%s", diff)
	}
}

// A delivery of another run ends no batch that was in work when the host crashed.
func TestBatchOfARunBefore(t *testing.T) {
	t.Parallel()
	before := at(0, 0, 1)(
		journal.Record{Kind: journal.Enqueued, Source: "parcels", MessageID: "m1"}, journal.Record{Kind: journal.Enqueued, Source: "parcels", MessageID: "m2"},
		of(journal.Received, journal.Record{Beside: journal.Beside{Batch: `["m1","m2"]`}}),
	)
	after := at(9, 9, 9)(
		journal.Record{Kind: journal.HostStarted, Name: "app"},
		of(journal.Received, journal.Record{MessageID: "m3"}),
		of(journal.Settled, journal.Record{MessageID: "m3", Decision: "completed"}),
	)
	lives := explain.Explain(append(before, after...), explain.Subject{Message: "m2"})
	if len(lives) != 1 || lives[0].Over {
		t.Errorf("%+v", lives[0])
	}
}

// The journal forgets its oldest records: lives are told from any record on.
func TestExplainFromAnyRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var records []journal.Record
	for d, delivery := range []string{"d1", "d2"} {
		for _, kind := range []journal.Kind{
			journal.Enqueued, journal.Received, journal.AttemptStarted, journal.AttemptEnded, journal.RetryScheduled, journal.AttemptStarted,
			journal.LockRenewed, journal.AttemptEnded, journal.RetriesExhausted, journal.LockExpired, journal.RetryCancelled,
			journal.Forwarded, journal.EventAttempted, journal.EventDelayed, journal.DeadLettered, journal.Settled,
		} {
			records = append(records, journal.Record{
				Seq: uint64(len(records) + 1), Time: at, Kind: kind, Function: "F", Delivery: delivery, MessageID: "m", Attempt: 1,
				DeliveryCount: int64(d + 1), Status: "failed", Decision: "released", Delay: time.Second,
			})
		}
	}
	for from := range records {
		if lives := explain.Explain(records[from:], explain.Subject{}); len(lives) != 1 {
			t.Errorf("from record %d on there are %d lives, want 1", from+1, len(lives))
		}
	}
}
