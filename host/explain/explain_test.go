package explain_test

import (
	"fmt"
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
		{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"},
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
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"},
		of(journal.Received, journal.Record{}),
		of(journal.AttemptStarted, journal.Record{Attempt: 1, Invocation: "i9"}),
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels-poison", MessageID: "copy"},
		of(journal.Settled, journal.Record{Decision: "poisoned", Target: "parcels-poison", Fields: []journal.Field{{Key: "new_message_id", Value: "copy"}}}),
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "other", MessageID: "x2"},
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

// Two functions may have a message one after the other: each has a life of it, with the
// same beginning.
func TestOneMessageForTwoFunctions(t *testing.T) {
	t.Parallel()
	second := of(journal.Received, journal.Record{})
	second.Function, second.Delivery = "Bill", "d2"
	lives := explain.Explain(at(0, 1, 2, 3)(
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"},
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

// What a service does with a message is no part of the life of another one: of another
// service, entity or number.
func TestMessagesOfOneName(t *testing.T) {
	t.Parallel()
	type message struct {
		service, entity, trigger, source string
		number                           int64
	}
	bus := message{journal.ServiceBus, "bills", "serviceBusTrigger", "bills", 7}
	for name, both := range map[string][2]message{
		"subscriptions":                {{journal.ServiceBus, "orders/subscriptions/ship", "serviceBusTrigger", "orders/Subscriptions/Ship", 7}, {journal.ServiceBus, "orders/subscriptions/bill", "serviceBusTrigger", "orders/Subscriptions/Bill", 7}},
		"event subscriptions":          {{journal.EventGrid, "shop/index", "eventGridTrigger", "shop/index", 7}, {journal.EventGrid, "mall/index", "eventGridTrigger", "mall/index", 8}},
		"entities":                     {{journal.ServiceBus, "parcels", "serviceBusTrigger", "parcels", 7}, bus},
		"a queue of storage, and one":  {{journal.Queues, "bills", "queueTrigger", "bills", 0}, bus},
		"messages of one entity":       {{journal.ServiceBus, "bills", "serviceBusTrigger", "bills", 6}, bus},
		"a hub and an entity":          {{journal.EventHubs, "bills/Partitions/0", "eventHubTrigger", "bills/$Default/0", 7}, bus},
		"partitions of a hub":          {{journal.EventHubs, "bills/Partitions/0", "eventHubTrigger", "bills/$Default/0", 7}, {journal.EventHubs, "bills/Partitions/1", "eventHubTrigger", "bills/$Default/1", 7}},
		"an event and a bus's message": {{journal.EventGrid, "bills/index", "eventGridTrigger", "bills/index", 7}, bus},
	} {
		var records []journal.Record
		for step := range 4 {
			for i, m := range both {
				r := journal.Record{Service: m.service, Source: m.entity, MessageID: "m1", MessageNumber: m.number}
				if step > 0 && step < 3 {
					r.Service, r.Source, r.Function, r.Trigger, r.Delivery = "", m.source, []string{"Ship", "Bill"}[i], m.trigger, []string{"d1", "d2"}[i]
				}
				if r.Kind = []journal.Kind{journal.Enqueued, journal.Received, journal.Settled, journal.Expired}[step]; r.Kind == journal.Settled {
					r.Decision = []string{"abandoned", "completed"}[i]
				}
				if step < 3 || i == 0 {
					records = append(records, r)
				}
			}
		}
		var got []string
		for _, l := range explain.Explain(at(0, 0, 1, 1, 2, 2, 3)(records...), explain.Subject{}) {
			got = append(got, l.Function+" "+strings.Join(l.Lines(start), " | ")+": "+l.Next)
		}
		want := []string{
			"Ship +0s          enqueued in " + both[0].entity + " | +1s          delivery d1 | +2s          abandoned: the entity delivers it again | +3s          the time to live is over: nothing: the message has expired",
			"Bill +0s          enqueued in " + both[1].entity + " | +1s          delivery d2 | +2s          completed: nothing: the function has succeeded, and the message is completed",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each message of a batch has its deliveries and attempts, under its own counts, and its
// own end.
func TestBatches(t *testing.T) {
	t.Parallel()
	for decisions, next := range map[string]string{
		`["completed","completed",""]`:     "nothing: the function has succeeded, and the message is completed",
		`["completed","abandoned",""]`:     "the entity delivers it again",
		`["abandoned","dead_lettered",""]`: "nothing: the message is a dead letter",
		"":                                 "the trigger settles the delivery",
	} {
		bus := func(kind journal.Kind, more journal.Record) journal.Record {
			more = of(kind, more)
			more.Trigger, more.MessageNumber = "serviceBusTrigger", 1
			return more
		}
		records := []journal.Record{
			{Kind: journal.Enqueued, Service: journal.ServiceBus, Source: "parcels", MessageID: "m1", MessageNumber: 1},
			{Kind: journal.Enqueued, Service: journal.ServiceBus, Source: "parcels", MessageID: "m2", MessageNumber: 2},
			bus(journal.Received, journal.Record{DeliveryCount: 3, Beside: journal.Beside{Batch: `["m1","m2",""]`, Members: "[1,2,3]", Counts: "[3,2,1]"}}),
			bus(journal.AttemptStarted, journal.Record{DeliveryCount: 3, Attempt: 1}),
			bus(journal.AttemptEnded, journal.Record{DeliveryCount: 3, Attempt: 1, Status: "failed", Error: "no"}),
			bus(journal.Settled, journal.Record{DeliveryCount: 3, Decision: "completed", Beside: journal.Beside{Members: decisions}}),
		}
		if decisions == "" {
			records = records[:5]
		}
		lives := explain.Explain(at(0, 0, 1, 1, 2, 3)(records...), explain.Subject{Message: "m2"})
		if len(lives) != 1 {
			t.Errorf("%s: %d lives", decisions, len(lives))
			continue
		}
		l := lives[0]
		if l.Next != next || l.Deliveries != 1 || l.Attempts != 1 || l.Number != 2 || l.Entries[1].DeliveryCount != 2 ||
			l.Entries[1].Text != "delivery 2 (d1), in a batch of 3" || !strings.Contains(l.Entries[2].Text, "failed after 1s: no") {
			t.Errorf("%s: %s", decisions, l.Text())
		}
	}
}

// A message that the service gives another number is the same one: when it is redriven,
// and when its time has come. In another entity it begins a life with what was told before.
func TestAnotherNumber(t *testing.T) {
	t.Parallel()
	bus := func(kind journal.Kind, source string, number int64, more journal.Record) journal.Record {
		more.Kind, more.Service, more.Source, more.MessageID, more.MessageNumber = kind, journal.ServiceBus, source, "m1", number
		return more
	}
	was := func(entity, number string) journal.Record {
		return journal.Record{Fields: []journal.Field{{Key: "previous_entity", Value: entity}, {Key: "previous_number", Value: number}}}
	}
	takes := func(kind journal.Kind, function, source, delivery string, number int64, decision string) journal.Record {
		return journal.Record{Kind: kind, Function: function, Trigger: "serviceBusTrigger", Source: source, Delivery: delivery, MessageID: "m1", MessageNumber: number, Decision: decision}
	}
	dead := journal.Record{Target: "parcels/$DeadLetterQueue", Cause: "Bad"}
	for name, test := range map[string]struct {
		records []journal.Record
		want    []string
	}{
		"redriven": {[]journal.Record{
			bus(journal.Enqueued, "parcels", 1, journal.Record{}),
			takes(journal.Received, "Ship", "parcels", "d1", 1, ""),
			bus(journal.DeadLettered, "parcels", 1, dead),
			takes(journal.Settled, "Ship", "parcels", "d1", 1, "dead_lettered"),
			bus(journal.Forwarded, "parcels/$DeadLetterQueue", 1, journal.Record{Target: "parcels", Cause: "redrive"}),
			bus(journal.Enqueued, "parcels", 2, was("parcels/$DeadLetterQueue", "1")),
			takes(journal.Received, "Ship", "parcels", "d2", 2, ""),
			takes(journal.Settled, "Ship", "parcels", "d2", 2, "completed"),
		}, []string{"Ship, 2 deliveries, 8 entries: nothing: the function has succeeded, and the message is completed"}},
		"scheduled": {[]journal.Record{
			bus(journal.Enqueued, "parcels", 1, journal.Record{Status: "scheduled", Delay: time.Minute}),
			bus(journal.Enqueued, "parcels", 2, was("parcels", "1")),
			takes(journal.Received, "Ship", "parcels", "d1", 2, ""),
		}, []string{"Ship, 1 deliveries, 3 entries: the first attempt begins"}},
		"for two subscriptions": {[]journal.Record{
			bus(journal.Enqueued, "news", 1, journal.Record{Status: "scheduled", Delay: time.Minute}),
			bus(journal.Enqueued, "news/subscriptions/a", 1, was("news", "1")),
			bus(journal.Enqueued, "news/subscriptions/b", 1, was("news", "1")),
			takes(journal.Received, "Ship", "news/Subscriptions/a", "d1", 1, ""),
		}, []string{", 0 deliveries, 2 entries: a listener receives it", "Ship, 1 deliveries, 3 entries: the first attempt begins"}},
		"forwarded dead letters": {[]journal.Record{
			bus(journal.Enqueued, "parcels", 1, journal.Record{}),
			takes(journal.Received, "Ship", "parcels", "d1", 1, ""),
			bus(journal.DeadLettered, "parcels", 1, dead),
			bus(journal.Forwarded, "parcels/$DeadLetterQueue", 1, journal.Record{Target: "graves"}),
			bus(journal.Enqueued, "graves", 1, was("parcels/$DeadLetterQueue", "1")),
			takes(journal.Settled, "Ship", "parcels", "d1", 1, "dead_lettered"),
			takes(journal.Received, "Bury", "graves", "d2", 1, ""),
		}, []string{"Ship, 1 deliveries, 5 entries: nothing: the message is in graves now", "Bury, 1 deliveries, 3 entries: the first attempt begins"}},
		"of the dead letters": {[]journal.Record{
			bus(journal.Enqueued, "parcels", 1, journal.Record{}),
			takes(journal.Received, "Ship", "parcels", "d1", 1, ""),
			bus(journal.DeadLettered, "parcels", 1, dead),
			takes(journal.Settled, "Ship", "parcels", "d1", 1, "dead_lettered"),
			takes(journal.Received, "Bury", "parcels/$DeadLetterQueue", "d2", 1, ""),
			bus(journal.LockExpired, "parcels/$DeadLetterQueue", 1, journal.Record{}),
		}, []string{"Ship, 1 deliveries, 4 entries: nothing: the message is a dead letter, in parcels/$DeadLetterQueue", "Bury, 1 deliveries, 4 entries: the message is delivered again"}},
		"a redriven event": {[]journal.Record{
			{Kind: journal.Enqueued, Service: journal.EventGrid, Source: "shop/a", MessageID: "m1", MessageNumber: 1},
			{Kind: journal.EventAttempted, Service: journal.EventGrid, Source: "shop/a", Function: "ship", MessageID: "m1", MessageNumber: 1, DeliveryCount: 1, Status: "NotFound"},
			{Kind: journal.DeadLettered, Service: journal.EventGrid, Source: "shop/a", Target: "dead/A/1.json", MessageID: "m1", MessageNumber: 1},
			{Kind: journal.Forwarded, Service: journal.EventGrid, Source: "dead/A/1.json", Target: "shop/a", MessageID: "m1", MessageNumber: 2, Cause: "redrive"},
			{Kind: journal.Received, Function: "Ship", Trigger: "eventGridTrigger", Source: "shop/a", Delivery: "d1", DeliveryCount: 1, MessageID: "m1", MessageNumber: 2},
			{Kind: journal.Settled, Function: "Ship", Trigger: "eventGridTrigger", Source: "shop/a", Delivery: "d1", DeliveryCount: 1, MessageID: "m1", MessageNumber: 2, Decision: "responded"},
		}, []string{"ship, 1 deliveries, 6 entries: the service decides by the answer"}},
		"an answer after the limit": {[]journal.Record{
			{Kind: journal.Received, Function: "Ship", Trigger: "eventGridTrigger", Source: "shop/a", Delivery: "d1", DeliveryCount: 1, MessageID: "m1", MessageNumber: 1},
			{Kind: journal.EventAttempted, Service: journal.EventGrid, Source: "shop/a", Function: "Ship", MessageID: "m1", MessageNumber: 1, DeliveryCount: 1, Status: "TimedOut", Delay: time.Minute},
			{Kind: journal.Settled, Function: "Ship", Trigger: "eventGridTrigger", Source: "shop/a", Delivery: "d1", DeliveryCount: 1, MessageID: "m1", MessageNumber: 1, Decision: "responded"},
		}, []string{"Ship, 1 deliveries, 3 entries: delivery 2"}},
		"a duplicate": {[]journal.Record{
			bus(journal.Enqueued, "parcels", 1, journal.Record{}),
			bus(journal.Enqueued, "parcels", 0, journal.Record{Status: "duplicate"}),
			takes(journal.Received, "Ship", "parcels", "d1", 1, ""),
		}, []string{"Ship, 1 deliveries, 3 entries: the first attempt begins"}},
	} {
		var got []string
		for _, l := range explain.Explain(at(0, 1, 2, 3, 4, 5, 6, 7)(test.records...), explain.Subject{}) {
			got = append(got, fmt.Sprintf("%s, %d deliveries, %d entries: %s", l.Function, l.Deliveries, len(l.Entries), l.Next))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a handler settles itself comes again, or is gone, before its attempt ends.
func TestSettledByTheHandler(t *testing.T) {
	t.Parallel()
	in := func(delivery string, kind journal.Kind, more journal.Record) journal.Record {
		more = of(kind, more)
		more.Trigger, more.Delivery, more.HasPolicy, more.MaxRetryCount, more.Attempt = "serviceBusTrigger", delivery, false, 0, 1
		return more
	}
	done := journal.Record{Decision: "abandoned", Message: "settled by the handler while it ran"}
	records := at(0, 0, 0, 1, 1, 1, 2, 2, 3, 3)(
		in("d1", journal.Received, journal.Record{}), in("d1", journal.AttemptStarted, journal.Record{}),
		in("d2", journal.Received, journal.Record{}), in("d2", journal.AttemptStarted, journal.Record{}),
		in("d1", journal.AttemptEnded, journal.Record{Status: "succeeded"}), in("d1", journal.Settled, done),
		journal.Record{Kind: journal.DeadLettered, Service: journal.ServiceBus, Source: "parcels", Target: "parcels/$DeadLetterQueue", MessageID: "m1", Cause: "MaxDeliveryCountExceeded"},
		in("d2", journal.AttemptEnded, journal.Record{Status: "succeeded"}), in("d2", journal.Settled, done),
	)
	for n, next := range map[int]string{
		5: "the trigger settles the delivery", 6: "delivery d2 ends",
		7: "nothing: the message is a dead letter, in parcels/$DeadLetterQueue", 8: "nothing: the message is a dead letter, in parcels/$DeadLetterQueue", 9: "nothing: the message is a dead letter, in parcels/$DeadLetterQueue",
	} {
		if l := explain.Explain(records[:n], explain.Subject{})[0]; l.Next != next || l.Over != (n > 6) {
			t.Errorf("after %d records: %q, over %v; want %q", n, l.Next, l.Over, next)
		}
	}
}

// What is purged, and what goes with a state that another one takes the place of, does not
// wait for ever.
func TestPurgedMessages(t *testing.T) {
	t.Parallel()
	enqueued := []journal.Record{
		{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"},
		{Kind: journal.Enqueued, Service: journal.ServiceBus, Source: "parcels", MessageID: "m2", MessageNumber: 1},
		{Kind: journal.DeadLettered, Service: journal.ServiceBus, Source: "bills", Target: "bills/$DeadLetterQueue", MessageID: "m3", MessageNumber: 1},
		of(journal.Received, journal.Record{MessageID: "m4"}), of(journal.Settled, journal.Record{MessageID: "m4", Decision: "deleted"}),
	}
	const purged, other, waits = "nothing: the message was purged", "nothing: the message went with its state, or is another one now", "a listener receives it"
	const dead, done = "nothing: the message is a dead letter, in bills/$DeadLetterQueue", "nothing: the function has succeeded, and the message is deleted"
	for name, test := range map[string]struct {
		r    journal.Record
		want []string
	}{
		"a queue":        {journal.Record{Kind: journal.Purged, Service: journal.Queues, Source: "parcels"}, []string{purged, waits, dead, done}},
		"an entity":      {journal.Record{Kind: journal.Purged, Service: journal.ServiceBus, Source: "Parcels"}, []string{waits, purged, dead, done}},
		"its main queue": {journal.Record{Kind: journal.Purged, Service: journal.ServiceBus, Source: "bills"}, []string{waits, waits, dead, done}},
		"dead letters":   {journal.Record{Kind: journal.Purged, Service: journal.ServiceBus, Source: "bills/$DeadLetterQueue"}, []string{waits, waits, purged, done}},
		"a state":        {journal.Record{Kind: journal.StateLoaded}, []string{other, other, other, done}},
	} {
		var got []string
		for _, l := range explain.Explain(at(0, 0, 0, 0, 0, 1)(append(enqueued[:5:5], test.r)...), explain.Subject{}) {
			got = append(got, l.Next)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	again := explain.Explain(at(0, 1, 2)(enqueued[1], journal.Record{Kind: journal.StateLoaded}, enqueued[1]), explain.Subject{})
	if len(again) != 2 || again[1].Next != waits {
		t.Errorf("a message under the number of one before: %+v", again)
	}
}

// A message that cannot be received yet says when it can.
func TestDelayedMessages(t *testing.T) {
	t.Parallel()
	for text, r := range map[string]journal.Record{
		"enqueued in parcels, visible in 1m; a listener receives it":     {Service: journal.Queues},
		"scheduled in parcels, active in 1m; the message becomes active": {Service: journal.ServiceBus, Status: "scheduled"},
	} {
		r.Kind, r.Source, r.MessageID, r.Delay = journal.Enqueued, "parcels", "m1", time.Minute
		l := explain.Explain(at(0)(r), explain.Subject{})[0]
		if got := l.Entries[0].Text + "; " + l.Next; got != text || l.NextAt == nil || !l.NextAt.Equal(start.Add(time.Minute)) {
			t.Errorf("%q at %v, want %q in a minute", got, l.NextAt, text)
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
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"},
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
		journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m1"}, journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "parcels", MessageID: "m2"},
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
