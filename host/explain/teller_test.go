package explain_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/explain/explaintest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// tales are records of one journal, a second apart, told to a page.
type tales struct {
	explaintest.Page
	seq uint64
}

func newTales(most int) *tales {
	return &tales{Page: explaintest.Page{Teller: explain.NewTeller(most)}}
}

func (t *tales) add(kind journal.Kind, r journal.Record) {
	t.seq++
	r.Seq, r.Kind = t.seq, kind
	if r.Time.IsZero() {
		r.Time = start.Add(time.Duration(t.seq) * time.Second)
	}
	if r.Function == "" && r.Service == "" {
		r.Service = journal.Queues
	}
	t.Add(&r)
}

// fields are further attributes of a record.
func fields(pairs ...string) (list []journal.Field) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, journal.Field{Key: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// delivery tells a delivery of a message with as many failing attempts.
func (t *tales) delivery(message string, count int64, attempts int, d triggers.Decision, target string, more ...journal.Field) {
	of := journal.Record{Function: "Orders", Trigger: "queueTrigger", Source: "orders", MessageID: message, Delivery: fmt.Sprintf("%s.%d", message, count), DeliveryCount: count}
	t.add(journal.Received, of)
	for of.Attempt = 1; of.Attempt <= attempts; of.Attempt++ {
		t.add(journal.AttemptStarted, of)
		failed := of
		failed.Status, failed.Error = "failed", `function "Orders": no`
		t.add(journal.AttemptEnded, failed)
		if of.Attempt < attempts {
			next := of
			next.Attempt, next.Delay, next.HasDelay = of.Attempt+1, 10*time.Second, true
			t.add(journal.RetryScheduled, next)
		}
	}
	of.Attempt, of.Decision, of.Target, of.Fields = 0, string(d), target, more
	t.add(journal.Settled, of)
}

func (t *tales) want(tb testing.TB, want ...string) {
	tb.Helper()
	var got []string
	for _, l := range t.Lives {
		got = append(got, fmt.Sprintf("%s %s %s: %d deliveries, %d attempts", l.Function, l.Outcome, l.State, len(l.Deliveries), l.Attempts))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("lives (-want +got):\n%s", diff)
	}
}

// A message that fails has one life, from its queue to its poison queue, and its copy has
// another that knows its origin.
func TestPoisonedMessage(t *testing.T) {
	t.Parallel()
	j := newTales(0)
	j.add(journal.Enqueued, journal.Record{Source: "orders", MessageID: "m1"})
	j.want(t, " queued in orders: 0 deliveries, 0 attempts")
	j.delivery("m1", 1, 2, triggers.Released, "")
	j.want(t, "Orders waiting released: 1 deliveries, 2 attempts")
	j.delivery("m1", 2, 2, triggers.Poisoned, "orders-poison", fields("new_message_id", "m2")...)
	j.add(journal.Enqueued, journal.Record{Source: "orders-poison", MessageID: "m2"})
	j.want(t, "Orders dead poisoned: orders-poison: 2 deliveries, 4 attempts", " queued in orders-poison: 0 deliveries, 0 attempts")
	life, copied := j.Lives[0], j.Lives[1]
	if life.Copy != "m2" || copied.Origin != "m1" || life.Grave != "orders-poison" || life.Error != "no" || life.Failures != 4 || life.Place != "" || !life.Gone {
		t.Errorf("life %+v, copy %+v", life, copied)
	}
	for _, d := range life.Deliveries {
		if a := d.Attempts; len(a) != 2 || a[0].Delay == nil || *a[0].Delay != 10_000 || a[1].Delay != nil || a[1].End-a[1].Start != 1_000 {
			t.Errorf("delivery %s has %+v, %+v", d.ID, a[0], a[1])
		}
	}
	if len(life.Marks) != 1 || life.Marks[0].Text != "enqueued in orders" {
		t.Errorf("marks %+v", life.Marks)
	}
}

// Each function that receives a message has a life of it, which begins with what its service
// told before.
func TestLifeForEachFunction(t *testing.T) {
	t.Parallel()
	j := newTales(0)
	j.add(journal.Enqueued, journal.Record{Source: "events", MessageID: "m1"})
	for _, name := range []string{"A", "B"} {
		j.add(journal.Received, journal.Record{Function: name, Trigger: "queueTrigger", Source: "events", MessageID: "m1", Delivery: "d" + name})
	}
	j.want(t, "A running received: 1 deliveries, 0 attempts", "B running received: 1 deliveries, 0 attempts")
	for _, l := range j.Lives {
		if len(l.Marks) != 1 || l.Seq != 1 || l.Of != j.Lives[0].Of {
			t.Errorf("life %+v", l)
		}
	}
}

// Messages of one name at different entities have lives of their own.
func TestLivesOfOneName(t *testing.T) {
	t.Parallel()
	type at struct {
		service, trigger, entity, source string
		number                           int64
	}
	bus := at{journal.ServiceBus, "serviceBusTrigger", "bills", "bills", 7}
	for name, pair := range map[string][2]at{
		"subscriptions":                   {{journal.ServiceBus, "serviceBusTrigger", "orders/subscriptions/ship", "orders/Subscriptions/Ship", 7}, {journal.ServiceBus, "serviceBusTrigger", "orders/subscriptions/bill", "orders/Subscriptions/Bill", 7}},
		"event subscriptions of one name": {{journal.EventGrid, "eventGridTrigger", "shop/index", "shop/index", 7}, {journal.EventGrid, "eventGridTrigger", "mall/index", "mall/index", 8}},
		"entities":                        {{journal.ServiceBus, "serviceBusTrigger", "parcels", "parcels", 7}, bus},
		"a queue of storage, and one":     {{journal.Queues, "queueTrigger", "bills", "bills", 0}, bus},
		"messages of one entity":          {{journal.ServiceBus, "serviceBusTrigger", "bills", "bills", 6}, bus},
		"partitions of a hub":             {{journal.EventHubs, "eventHubTrigger", "h/Partitions/0", "h/$Default/0", 7}, {journal.EventHubs, "eventHubTrigger", "h/Partitions/1", "h/$Default/1", 7}},
	} {
		j := newTales(0)
		told := func(m at) journal.Record {
			return journal.Record{Service: m.service, Source: m.entity, MessageID: "m1", MessageNumber: m.number}
		}
		of := func(m at, name, decision string) journal.Record {
			return journal.Record{Function: name, Trigger: m.trigger, Source: m.source, MessageID: "m1", MessageNumber: m.number, Delivery: name, Decision: decision}
		}
		ship, bill := pair[0], pair[1]
		j.add(journal.Enqueued, told(ship))
		j.add(journal.Enqueued, told(bill))
		j.add(journal.Received, of(bill, "Bill", ""))
		j.add(journal.Received, of(ship, "Ship", ""))
		j.add(journal.Settled, of(ship, "Ship", "abandoned"))
		j.add(journal.Settled, of(bill, "Bill", "completed"))
		j.add(journal.Expired, told(ship))
		t.Run(name, func(t *testing.T) {
			j.want(t, "Ship dead expired: 1 deliveries, 0 attempts", "Bill succeeded completed: 1 deliveries, 0 attempts")
		})
	}
}

// Each message of a batch has its deliveries, attempts and end; its function counts them once.
func TestLivesOfABatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ members, status, want string }{
		{"", "succeeded", "Orders succeeded completed: 1 deliveries, 1 attempts"},
		{"", "failed", "Orders failed completed: 1 deliveries, 1 attempts"},
		{`["completed","abandoned","completed"]`, "failed", "Orders waiting abandoned: 1 deliveries, 1 attempts"},
		{"", "", "Orders running running: 1 deliveries, 1 attempts"},
	} {
		j := newTales(0)
		for i := range 3 {
			j.add(journal.Enqueued, journal.Record{Service: journal.ServiceBus, Source: "orders", MessageID: fmt.Sprintf("m%d", i+1), MessageNumber: int64(i + 1)})
		}
		of := journal.Record{Function: "Orders", Trigger: "serviceBusTrigger", Source: "orders", MessageID: "m1", MessageNumber: 1, Delivery: "d1", DeliveryCount: 3}
		received := of
		received.Beside = journal.Beside{Batch: `["m1","m2",""]`, Members: "[1,2,3]", Counts: "[3,2,1]"}
		j.add(journal.Received, received)
		of.Attempt = 1
		j.add(journal.AttemptStarted, of)
		if of.Status = test.status; of.Status != "" {
			j.add(journal.AttemptEnded, of)
			of.Attempt, of.Decision, of.Beside.Members = 0, "completed", test.members
			j.add(journal.Settled, of)
		}
		second := j.Of("m2")[0]
		if got := fmt.Sprintf("%s %s %s: %d deliveries, %d attempts", second.Function, second.Outcome, second.State, len(second.Deliveries), second.Attempts); got != test.want {
			t.Errorf("%q %s: %s, want %s", test.members, test.status, got, test.want)
		}
		if d := second.Deliveries[0]; d.Count != 2 || d.Batch != 3 || d.Member != 1 {
			t.Errorf("delivery %+v", d)
		}
		if first, third := j.Of("m1")[0], j.Of("m3")[0]; first.Own.Deliveries+second.Own.Deliveries != 1 || first.Own.Attempts+second.Own.Attempts != 1 || third.Outcome != explain.Queued {
			t.Errorf("own counts %+v, %+v; the message without a name is %s", first.Own, second.Own, third.Outcome)
		}
	}
}

// A message that gets another number is the same one, and begins a life where it is forwarded to.
func TestLifeGoesOn(t *testing.T) {
	t.Parallel()
	j := newTales(0)
	told := func(source string, number int64, more journal.Record) journal.Record {
		more.Service, more.MessageID, more.Source, more.MessageNumber = journal.ServiceBus, "m1", source, number
		return more
	}
	of := func(delivery string, number int64, decision string) journal.Record {
		return journal.Record{Function: "Orders", Trigger: "serviceBusTrigger", Source: "orders", MessageID: "m1", MessageNumber: number, Delivery: delivery, Decision: decision}
	}
	was := func(entity, number string) []journal.Field {
		return fields("previous_entity", entity, "previous_number", number)
	}
	j.add(journal.Enqueued, told("orders", 1, journal.Record{Status: "scheduled", Delay: time.Hour, HasDelay: true}))
	if l := j.Lives[0]; l.State != "scheduled orders" || l.Due != l.Start+3_600_000 || l.End != l.Due {
		t.Errorf("scheduled: %+v", l)
	}
	j.add(journal.Enqueued, told("orders", 2, journal.Record{Fields: was("orders", "1")}))
	j.add(journal.Received, of("d1", 2, ""))
	j.add(journal.DeadLettered, told("orders", 2, journal.Record{Target: "orders/$DeadLetterQueue"}))
	j.add(journal.Settled, of("d1", 2, "dead_lettered"))
	j.add(journal.Forwarded, told("orders/$DeadLetterQueue", 2, journal.Record{Target: "orders", Cause: "redrive"}))
	j.add(journal.Enqueued, told("orders", 3, journal.Record{Fields: was("orders/$DeadLetterQueue", "2")}))
	j.add(journal.Received, of("d2", 3, ""))
	j.add(journal.Settled, of("d2", 3, "completed"))
	j.want(t, "Orders succeeded completed: 2 deliveries, 0 attempts")
	j.add(journal.Forwarded, told("first", 1, journal.Record{Target: "news"}))
	for i, name := range []string{"a", "b"} {
		j.add(journal.Enqueued, told("news/subscriptions/"+name, int64(i+1), journal.Record{Fields: was("first", "1")}))
	}
	j.want(t, "Orders succeeded completed: 2 deliveries, 0 attempts", " queued in news/subscriptions/a: 0 deliveries, 0 attempts", " queued in news/subscriptions/b: 0 deliveries, 0 attempts")
	for i, l := range j.Lives[1:] {
		if len(l.Marks) != 2 || l.Source != "news/subscriptions/"+string(rune('a'+i)) {
			t.Errorf("life %+v", l)
		}
	}
}

// What ends a life, and what does not.
func TestEndsOfLives(t *testing.T) {
	t.Parallel()
	bus := journal.Record{Service: journal.ServiceBus, Source: "orders", MessageID: "m1", MessageNumber: 1}
	with := func(r journal.Record, change func(*journal.Record)) journal.Record {
		change(&r)
		return r
	}
	in := journal.Record{Function: "Orders", Trigger: "serviceBusTrigger", Source: "orders", MessageID: "m1", MessageNumber: 1, Delivery: "d1", DeliveryCount: 1}
	event := journal.Record{Service: journal.EventGrid, Source: "shop/index", MessageID: "e1", MessageNumber: 1}
	on := journal.Record{Function: "OnOrder", Trigger: "eventGridTrigger", Source: "shop/index", MessageID: "e1", MessageNumber: 1, Delivery: "d1", DeliveryCount: 1}
	decided := func(d triggers.Decision) func(*journal.Record) {
		return func(r *journal.Record) { r.Decision = string(d) }
	}
	dead := with(bus, func(r *journal.Record) { r.Target = "orders/$DeadLetterQueue" })
	second := with(in, func(r *journal.Record) { r.Delivery, r.DeliveryCount = "d2", 2 })
	type step struct {
		kind journal.Kind
		r    journal.Record
	}
	for name, test := range map[string]struct {
		steps []step
		want  []string
	}{
		"a duplicate belongs to its message": {[]step{{journal.Enqueued, bus}, {journal.Enqueued, with(bus, func(r *journal.Record) { r.MessageNumber, r.Status = 0, "duplicate" })}}, []string{" queued in orders"}},
		"an event that is redriven": {[]step{
			{journal.Enqueued, event}, {journal.DeadLettered, with(event, func(r *journal.Record) { r.Target = "dead/INDEX/1.json" })},
			{journal.Forwarded, with(event, func(r *journal.Record) {
				r.MessageNumber, r.Source, r.Target, r.Cause = 2, "dead/INDEX/1.json", "shop/index", "redrive"
			})},
			{journal.Received, with(on, func(r *journal.Record) { r.MessageNumber = 2 })},
			{journal.Settled, with(on, func(r *journal.Record) {
				r.MessageNumber, r.Decision, r.Fields = 2, "responded", fields("http_status", "500")
			})},
		}, []string{"OnOrder succeeded responded 500"}},
		"an event waits after a failed delivery": {[]step{
			{journal.Enqueued, event}, {journal.Received, on}, {journal.Settled, with(on, decided(triggers.Responded))},
			{journal.EventAttempted, with(event, func(r *journal.Record) {
				r.Function, r.Delay, r.HasDelay, r.Status = "onorder", 10*time.Second, true, "Busy"
			})},
		}, []string{"OnOrder waiting next delivery"}},
		"and is dead when it is dropped": {[]step{{journal.Enqueued, event}, {journal.EventDropped, with(event, func(r *journal.Record) { r.Cause = "TimeToLiveExceeded" })}}, []string{" dead event dropped"}},
		"what a handler settles runs again before its attempt ends": {[]step{
			{journal.Received, in}, {journal.AttemptStarted, with(in, func(r *journal.Record) { r.Attempt = 1 })},
			{journal.Received, second}, {journal.AttemptStarted, with(second, func(r *journal.Record) { r.Attempt = 1 })},
			{journal.Settled, with(in, decided(triggers.Abandoned))},
		}, []string{"Orders running running"}},
		"a dead letter stays dead when its last delivery is abandoned": {[]step{{journal.Received, in}, {journal.DeadLettered, dead}, {journal.Settled, with(in, decided(triggers.Abandoned))}}, []string{"Orders dead dead-lettered: orders/$DeadLetterQueue"}},
		"and lives when it is redriven": {[]step{
			{journal.Received, in}, {journal.DeadLettered, dead}, {journal.Settled, with(in, decided(triggers.Abandoned))},
			{journal.Forwarded, with(dead, func(r *journal.Record) { r.Source, r.Target, r.Cause = r.Target, "orders", "redrive" })},
		}, []string{"Orders queued in orders"}},
		"what is given up by hand is dead, whatever still runs": {[]step{
			{journal.Received, in}, {journal.Forwarded, with(dead, func(r *journal.Record) { r.Cause = "by hand" })}, {journal.Settled, with(in, decided(triggers.LockLost))},
		}, []string{"Orders dead given up by hand: orders/$DeadLetterQueue"}},
		"a purge takes what is there": {[]step{
			{journal.Enqueued, bus}, {journal.Enqueued, journal.Record{Service: journal.Queues, Source: "orders", MessageID: "q1"}}, {journal.Purged, journal.Record{Service: journal.Queues, Source: "orders"}},
		}, []string{" queued in orders", " dead purged"}},
		"another state takes all that is somewhere, and numbers begin anew": {[]step{
			{journal.Enqueued, bus}, {journal.StateLoaded, journal.Record{}}, {journal.Enqueued, bus},
		}, []string{" dead gone with its state", " queued in orders"}},
		"a tick": {[]step{
			{journal.Received, journal.Record{Function: "Tick", Delivery: "d1"}}, {journal.AttemptStarted, journal.Record{Function: "Tick", Delivery: "d1", Attempt: 1}},
			{journal.AttemptEnded, journal.Record{Function: "Tick", Delivery: "d1", Attempt: 1, Status: "succeeded"}}, {journal.Settled, journal.Record{Function: "Tick", Delivery: "d1", Decision: "recorded"}},
		}, []string{"Tick succeeded recorded"}},
	} {
		j := newTales(0)
		for _, s := range test.steps {
			j.add(s.kind, s.r)
		}
		var got []string
		for _, l := range j.Lives {
			got = append(got, fmt.Sprintf("%s %s %s", l.Function, l.Outcome, l.State))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The oldest lives that are over go first, and memory has an end.
func TestForgottenLives(t *testing.T) {
	t.Parallel()
	j := newTales(1_000)
	j.add(journal.Received, journal.Record{Function: "Orders", MessageID: "open", Delivery: "d0"})
	for i := range 2_000 {
		j.delivery(fmt.Sprintf("m%d", i), 1, 1, triggers.Deleted, "")
	}
	if n := len(j.Lives); n > 300 || len(j.Of("open")) != 1 || len(j.Of("m0")) != 0 || len(j.Of("m1999")) != 1 {
		t.Errorf("%d lives: open %d, first %d, last %d", n, len(j.Of("open")), len(j.Of("m0")), len(j.Of("m1999")))
	}
}

// A clock that is set back ends no life before it begins.
func TestLifeOfAClockSetBack(t *testing.T) {
	t.Parallel()
	j := newTales(0)
	of := journal.Record{Function: "Orders", MessageID: "m1", Delivery: "d1", Time: start.Add(time.Hour)}
	j.add(journal.Received, of)
	of.Time, of.Decision = start, "deleted"
	j.add(journal.Settled, of)
	if l := j.Lives[0]; l.End < l.Start {
		t.Errorf("the life ends at %v, and begins at %v", l.End, l.Start)
	}
}

// What is appended is what json.Marshal makes of it.
func TestChangesAsJSON(t *testing.T) {
	t.Parallel()
	of := journal.Record{Time: start.Add(1234567 * time.Microsecond), Function: "Orders", Trigger: "queueTrigger", Source: "orders", MessageID: "m1", Delivery: "d1", Invocation: "i1", HasPolicy: true, Fields: fields("a", "<b>", "http_status", "500", "new_message_id", "m2")}
	teller := explain.NewTeller(20)
	told := of
	told.Function, told.Delivery, told.Service, told.Delay, told.HasDelay, told.Kind = "", "", journal.Queues, 1500*time.Microsecond, true, journal.Enqueued
	teller.Add(&told)
	for i, kind := range []journal.Kind{
		journal.Received, journal.AttemptStarted, journal.HandlerLog, journal.AttemptEnded, journal.RetryScheduled, journal.RetriesExhausted, journal.FaultInjected, journal.Settled,
	} {
		r := of
		r.Seq, r.Kind, r.Attempt, r.Status, r.Error, r.Message, r.Level, r.Cause, r.Target, r.Delay = uint64(i+2), kind, 1, "failed", "no\n\u2028", "line \xff", "error", "why", "orders-poison", time.Second
		r.Beside = journal.Beside{Stack: "at f()", Elapsed: 7 * time.Millisecond}
		if kind == journal.Settled {
			r.Decision = "poisoned"
		}
		teller.Add(&r)
		c := teller.Changes()
		std, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.AppendJSON(nil), &got); err != nil {
			t.Fatalf("%v in %s", err, c.AppendJSON(nil))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-json.Marshal +AppendJSON):\n%s", kind, diff)
		}
	}
	teller.Add(&journal.Record{Seq: 20, Kind: journal.HostStopped})
	for i := range 40 {
		r := journal.Record{Seq: uint64(21 + i), Kind: journal.Received, Function: "F", Delivery: fmt.Sprint(i), MessageID: fmt.Sprint("x", i)}
		teller.Add(&r)
	}
	c := teller.Changes()
	std, _ := json.Marshal(c)
	var want, got any
	if json.Unmarshal(std, &want) != nil || json.Unmarshal(c.AppendJSON(nil), &got) != nil || len(c.Dropped) == 0 || cmp.Diff(want, got) != "" {
		t.Errorf("with lives that were dropped: %s, want %s", c.AppendJSON(nil), std)
	}
}
