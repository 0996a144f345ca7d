package explain

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
)

// A Subject says what to explain. The zero value means everything.
type Subject struct {
	// Message is the identity of a message, or the beginning of one; of a poison message,
	// that means the message that it is a copy of. Deliveries and invocations have
	// identities, too.
	Message string
	// Function is the name of a function, whatever its case.
	Function string
	// App, if not nil, is the app that runs: its policies, deliveries and ends.
	App *app.App
	// Report, if not nil, takes the place of the report of app.Check on App.
	Report *app.Report
}

// Explain tells the lives of the messages that records show and about means, in the order
// of their first records. Records are in the order of the journal; those of a host that has
// started again, whose numbers begin anew, follow those before.
func Explain(records []journal.Record, about Subject) []*Life {
	t := &teller{about: about, lives: map[key]*story{}, message: map[string][]*story{}, orphans: map[string]*story{}, batches: map[string][]*story{}}
	if about.App != nil && t.about.Report == nil {
		t.about.Report = app.Check(about.App)
	}
	for i := range records {
		t.tell(&records[i])
	}
	slices.SortStableFunc(t.order, func(a, b *story) int { return cmp.Compare(a.begins, b.begins) })
	var list []*Life
	for _, s := range t.order {
		if s.wanted {
			s.conclude(t.about.Report)
			list = append(list, s.life)
		}
	}
	return list
}

// Told are the lives of messages that a host tells, the oldest first.
type Told struct {
	Now   time.Time `json:"now"` // the host's time
	Lives []*Life   `json:"lives"`
	More  int       `json:"more,omitempty"` // lives before these
}

// A key is what the records of one life have in common. A message without an identity is
// its delivery, in one run of the host: each run begins the names of deliveries anew.
type key struct {
	message, function, delivery string
	run                         int
}

// A teller reads records.
type teller struct {
	about   Subject
	lives   map[key]*story
	order   []*story
	message map[string][]*story // by the message's identity: the lives that functions have
	orphans map[string]*story   // what services told of a message before a function had it
	batches map[string][]*story // of messages in batches in work, by delivery, without the first of each

	told int    // records
	run  int    // how often the host has started again
	last uint64 // the number of the record before
}

// tell adds a record to the lives that it concerns.
func (t *teller) tell(r *journal.Record) {
	if r.Seq <= t.last {
		t.run++ // each run counts its records, and names its deliveries
		clear(t.batches)
	}
	t.last = r.Seq
	t.told++
	switch {
	case r.Function != "" && (r.Delivery != "" || r.MessageID != ""):
		s := t.story(r)
		s.add(r)
		s.wanted = s.wanted || t.means(r)
		t.batch(r)
		if from := t.orphans[copyOf(r)]; from != nil {
			from.entry(r, Service, "this is a copy of message %s of %s", r.MessageID, r.Source)
		}
	case r.MessageID != "":
		t.service(r)
	default:
		t.host(r)
	}
}

// story is the life that a record of a function belongs to. What a service has told of the
// message before is its beginning.
func (t *teller) story(r *journal.Record) *story {
	k := key{message: r.MessageID, function: strings.ToLower(r.Function)}
	if k.message == "" {
		k.delivery, k.run = r.Delivery, t.run
	}
	if s := t.lives[k]; s != nil {
		return s
	}
	s := &story{begins: t.told, life: &Life{Message: r.MessageID, Function: r.Function, Trigger: r.Trigger, Source: r.Source}}
	s.report(t.about)
	if before := t.orphans[r.MessageID]; before != nil && r.MessageID != "" {
		s.begins = before.begins
		s.life.Entries, s.wanted = slices.Clone(before.life.Entries), before.wanted || before.claimed
		before.wanted, before.claimed = false, before.wanted || before.claimed
	}
	if r.MessageID != "" {
		t.message[r.MessageID] = append(t.message[r.MessageID], s)
	}
	t.lives[k], t.order = s, append(t.order, s)
	return s
}

// batch tells the other messages of a batch, which the records of its delivery do not name,
// that they are in it, and how it ended.
func (t *teller) batch(r *journal.Record) {
	switch r.Kind {
	case journal.Received:
		var ids []string
		_ = json.Unmarshal([]byte(r.Beside.Batch), &ids) // there is none
		for _, id := range ids {
			s := t.lives[key{message: id, function: strings.ToLower(r.Function)}] // it was the first of one before
			if s == nil {
				s = t.orphans[id]
			}
			if s != nil && id != r.MessageID {
				s.entry(r, Trigger, "%s receives it in a batch, as %s", r.Function, r.Delivery)
				s.gone = ""
				s.waits(r, unknown, "the batch %s ends", r.Delivery)
				t.batches[r.Delivery] = append(t.batches[r.Delivery], s)
			}
		}
	case journal.Settled:
		for _, s := range t.batches[r.Delivery] {
			s.settle(r)
		}
		delete(t.batches, r.Delivery)
	}
}

// service adds what a service did to a message by itself to the lives that the message has
// there.
func (t *teller) service(r *journal.Record) {
	if list := concerned(t.message[r.MessageID], r); len(list) > 0 {
		for _, s := range list {
			s.add(r)
		}
		return
	}
	s := t.orphans[r.MessageID]
	if s == nil || s.claimed {
		s = &story{begins: t.told, life: &Life{Message: r.MessageID, Source: r.Source}}
		t.orphans[r.MessageID], t.order = s, append(t.order, s)
	}
	s.add(r)
	s.wanted = s.wanted || t.means(r)
}

// host adds what happened to the host, or to a function as a whole, to the lives that go
// on.
func (t *teller) host(r *journal.Record) {
	if _, told := hostText(r); !told {
		return
	}
	for _, s := range t.order {
		if !s.life.Over && (r.Function == "" || strings.EqualFold(r.Function, s.life.Function)) {
			s.around(r)
		}
	}
}

// means reports whether a record is of what is to be explained.
func (t *teller) means(r *journal.Record) bool {
	if t.about.Function != "" && !strings.EqualFold(t.about.Function, r.Function) {
		return false
	}
	want := t.about.Message
	if want == "" {
		return true
	}
	if begins(r.MessageID, want) || r.Delivery == want || r.Invocation != "" && r.Invocation == want {
		return true
	}
	id := copyOf(r)
	return id != "" && begins(id, want)
}

func begins(id, with string) bool {
	return len(id) >= len(with) && strings.EqualFold(id[:len(with)], with)
}

// copyOf is the identity that the message has at the place where it was moved to.
func copyOf(r *journal.Record) string { return field(r, "new_message_id") }

func field(r *journal.Record, key string) string {
	for _, f := range r.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// report puts what is to be expected into words.
func (s *story) report(about Subject) {
	if about.App != nil {
		if f := about.App.Function(s.life.Function); f != nil {
			s.policy = f.Policy
		}
	}
	if about.Report == nil {
		return
	}
	for i := range about.Report.Functions {
		f := &about.Report.Functions[i]
		if !strings.EqualFold(f.Name, s.life.Function) || f.InError {
			continue
		}
		s.deliveries = f.Deliveries
		s.life.Policy, s.life.Expected = f.PolicyText(), f.AttemptsText()
		if f.End != "" {
			s.life.Expected += ", then " + f.End
		}
	}
}
