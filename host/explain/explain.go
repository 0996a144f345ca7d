package explain

import (
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
	// Apps are the apps that run, by their names, where a run may have several; App is left
	// out then. Names of functions are qualified, in Report too.
	Apps map[string]*app.App
	// Report, if not nil, takes the place of the report of app.Check on App.
	Report *app.Report

	instances bool // they are told, and their activities with them
}

// Explain tells the lives of the messages that records show and about means, in the order
// of their first records. Records are in the order of the journal; those of a host that has
// started again, whose numbers begin anew, follow those before.
func Explain(records []journal.Record, about Subject) []*Life {
	lives, _ := Latest(records, about, len(records))
	return lives
}

// Latest is Explain for the last n lives, and says how many there are before them.
func Latest(records []journal.Record, about Subject, n int) (lives []*Life, before int) {
	if about.App != nil && about.Report == nil {
		about.Report = app.Check(about.App)
	}
	s := newSorter(records, about)
	list := s.list()
	before = max(len(list)-n, 0)
	for _, of := range list[before:] {
		lives = append(lives, tell(of, s))
	}
	tellTwins(lives)
	return lives, before
}

// tellTwins notes of which lives only the number of the message says which it is.
func tellTwins(lives []*Life) {
	type name struct{ service, source, function, message string }
	seen := map[name]*Life{}
	for _, l := range lives {
		of := name{l.Service, l.Source, l.Function, l.Message}
		if first := seen[of]; first != nil && l.Number != first.Number {
			first.twin, l.twin = true, true
		} else if first == nil {
			seen[of] = l
		}
	}
}

// Told are the lives of messages that a host tells, the oldest first.
type Told struct {
	Now   time.Time `json:"now"` // the host's time
	Lives []*Life   `json:"lives"`
	More  int       `json:"more,omitempty"` // lives before these

	// Orchestrations are the instances of Durable Functions that are meant, the oldest first.
	Orchestrations []*Tale `json:"orchestrations,omitempty"`
}

// Tell fills in what records tell of about, n lives and n instances at most. An activity is
// part of its instance, unless it is asked for by its own name (order-7#0).
func (t *Told) Tell(records []journal.Record, about Subject, n int) {
	if about.Function == "" {
		t.Orchestrations = Tales(records, about.Message)
		if more := len(t.Orchestrations) - n; more > 0 {
			t.Orchestrations, t.More = t.Orchestrations[more:], more
		}
		about.instances = len(t.Orchestrations) > 0
	}
	lives, before := Latest(records, about, n)
	t.Lives, t.More = lives, t.More+before
}

// means reports whether a record of a message is of what is to be explained.
func (about *Subject) means(r *journal.Record, message string) bool {
	if about.Function != "" && !strings.EqualFold(about.Function, r.Function) || about.instances && r.Trigger == activityTrigger {
		return false
	}
	want := about.Message
	if want == "" {
		return true
	}
	if begins(message, want) || r.Delivery == want || r.Invocation != "" && r.Invocation == want {
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

// function is a function of the apps that run, nil when there is none.
func (about *Subject) function(name string) *app.Function {
	a := about.App
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		a, name = about.Apps[name[:i]], name[i+1:]
	} else if a == nil {
		a = about.Apps[""]
	}
	if a == nil {
		return nil
	}
	return a.Function(name)
}

// report puts what is to be expected into words.
func (s *story) report(about *Subject) {
	if f := about.function(s.life.Function); f != nil {
		s.policy = f.Policy
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
