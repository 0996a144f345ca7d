package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

// ofFunction is what must have happened to a function.
type ofFunction struct {
	Attempts   *attempts   `json:"attempts"`
	Deliveries *deliveries `json:"deliveries"`
	Waits      *waits      `json:"waits"`
	Settled    *words      `json:"settled"`
	Ends       *words      `json:"ends"`
	Elapsed    *spanRange  `json:"elapsed"`
	Logs       []pattern   `json:"logs"`
	InError    *pattern    `json:"inError"`
	Exists     *bool       `json:"exists"` // false, or nil
}

// deliveries are a number of deliveries, or the attempts in each.
type deliveries struct {
	count int // -1: the list counts
	list  []int
}

func (d *deliveries) UnmarshalJSON(raw []byte) error {
	return countOrList(raw, &d.count, &d.list)
}

func countOrList[T any](raw []byte, count *int, list *[]T) error {
	if raw[0] == '[' {
		*count = -1
		return json.Unmarshal(raw, list)
	}
	return json.Unmarshal(raw, count)
}

// waits are the delays of all retries: one for all, or each.
type waits struct {
	each *spanRange
	list []spanRange
}

func (w *waits) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &w.list)
	}
	return json.Unmarshal(raw, &w.each)
}

// words are one word for all, or each.
type words struct {
	each string
	list []string
}

func (w *words) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		w.list = []string{}
		return json.Unmarshal(raw, &w.list)
	}
	return json.Unmarshal(raw, &w.each)
}

func (w *words) holds(got []string) bool {
	if w.list != nil {
		return slices.Equal(got, w.list)
	}
	return len(got) > 0 && !slices.ContainsFunc(got, func(s string) bool { return s != w.each })
}

func (w *words) String() string {
	if w.list != nil {
		return showWords(w.list)
	}
	return "each " + w.each
}

// showWords shows words in order, equal neighbours together.
func showWords(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		if n > 1 {
			parts = append(parts, fmt.Sprintf("%d x %s", n, list[i]))
		} else {
			parts = append(parts, list[i])
		}
		i += n
	}
	return strings.Join(parts, ", ")
}

// function compares what happened to a function.
func (r inspection) function(at, name string, want *ofFunction) {
	if want.Exists != nil {
		if r.cast.defined(name) != nil {
			r.mismatch(schemas.JoinPath(at, "exists"), fmt.Sprintf("the app has a function %q", name), "none", schemas.Quote(name), nil)
		}
		if reflect.DeepEqual(*want, ofFunction{Exists: want.Exists}) {
			return // a function that an edit has removed may have run before
		}
	}
	if !r.known(at, aFunction, name, false) {
		return
	}
	name = r.cast.full(name)
	h := r.history(name)
	concerned := r.of(name)
	sub := func(key string) string { return schemas.JoinPath(at, key) }
	if want.Attempts != nil {
		r.attempts(sub("attempts"), name, want.Attempts, h.ended)
	}
	if d := want.Deliveries; d != nil {
		if got := len(h.attempts); d.count >= 0 && got != d.count {
			r.mismatch(sub("deliveries"), name+" had another number of deliveries", fmt.Sprint(d.count), fmt.Sprint(got), concerned)
		}
		if d.count < 0 && !slices.Equal(d.list, h.attempts) {
			r.mismatch(sub("deliveries"), name+" made other numbers of attempts in its deliveries", fmt.Sprint(d.list), fmt.Sprint(h.attempts), concerned)
		}
	}
	if want.Waits != nil {
		r.waits(sub("waits"), name, want.Waits, h.delays)
	}
	if want.Settled != nil && !want.Settled.holds(h.settled) {
		r.mismatch(sub("settled"), "deliveries of "+name+" were settled otherwise", want.Settled.String(), showWords(h.settled), concerned)
	}
	if want.Ends != nil && !want.Ends.holds(h.ends.words()) {
		r.mismatch(sub("ends"), "messages of "+name+" ended otherwise", want.Ends.String(), showWords(h.ends.words()), concerned)
	}
	if want.Elapsed != nil {
		r.ended(sub("elapsed"), " of "+name, want.Elapsed, func(rec *journal.Record) bool { return strings.EqualFold(rec.Function, name) }, concerned)
	}
	if want.InError != nil {
		r.inError(sub("inError"), name, want.InError)
	}
	next := 0
	for i, p := range want.Logs {
		found := slices.IndexFunc(h.logs[next:], p.matches)
		if found < 0 {
			r.mismatch(schemas.IndexPath(sub("logs"), i), name+" has not logged it, in this order", p.String(), showList(h.logs), nil)
			break
		}
		next += found + 1
	}
}

// inError compares the reasons for which a function does not run.
func (r inspection) inError(at, name string, want *pattern) {
	reasons := []string{}
	if defined := r.cast.defined(name); defined != nil {
		for _, f := range defined.Faults {
			reasons = append(reasons, f.Error())
		}
		if why := defined.Unloaded; why != "" {
			reasons = append(reasons, why)
		}
	}
	if !slices.ContainsFunc(reasons, want.matches) {
		r.mismatch(at, name+" is not in error so", want.String(), showList(reasons), nil)
	}
}

// inError are the functions that a scenario expects not to run.
func (s *Scenario) inError() (names []string) {
	expected := func(e *expect) {
		for name, f := range e.Functions {
			if f.InError != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for i := range s.When {
		if e := s.When[i].Expect; e != nil {
			expected(e)
		}
	}
	expected(&s.Then)
	return names
}

// inErrorHere are those of the scenario's part.
func (s *Scenario) inErrorHere() (names []string) {
	for _, name := range s.inError() {
		if own, ok := strings.CutPrefix(name, s.of+"/"); ok && s.of != "" {
			names = append(names, own)
		} else if s.of == "" {
			names = append(names, name)
		}
	}
	return names
}

func (r inspection) waits(at, name string, want *waits, got []time.Duration) {
	shown := make([]string, len(got))
	for i, d := range got {
		shown[i] = explain.Span(d)
	}
	if want.each != nil {
		if i := slices.IndexFunc(got, func(d time.Duration) bool { return !want.each.holds(d) }); i >= 0 || len(got) == 0 {
			r.mismatch(at, "retries of "+name+" waited otherwise", "each "+want.each.text, showWords(shown), r.of(name))
		}
		return
	}
	same := len(got) == len(want.list)
	texts := make([]string, len(want.list))
	for i := range want.list {
		texts[i] = want.list[i].text
		same = same && want.list[i].holds(got[i])
	}
	if !same {
		r.mismatch(at, "retries of "+name+" waited otherwise", showWords(texts), showWords(shown), r.of(name))
	}
}

// A history is what happened to a function, from the journal.
type history struct {
	ended    []attempted
	attempts []int           // in each delivery, in their order; 0 where the host ended before
	delays   []time.Duration // of its policy
	settled  []string
	logs     []string

	ends *ends
}

func (r inspection) history(function string) *history {
	h := &history{ends: newEnds(function)}
	at := map[string]int{} // by delivery
	received := map[string]journal.Record{}
	last := uint64(0)
	for _, rec := range r.journaled(func(*journal.Record) bool { return true }) {
		if rec.Seq <= last {
			clear(at) // another run begins the names of deliveries anew
		}
		last = rec.Seq
		h.ends.look(&rec)
		if !strings.EqualFold(rec.Function, function) {
			continue
		}
		switch rec.Kind {
		case journal.AttemptEnded:
			h.ended = append(h.ended, attempted{rec, received[rec.Delivery]})
			h.attempts[at[rec.Delivery]]++
		case journal.RetryScheduled:
			h.delays = append(h.delays, rec.Delay)
		case journal.HandlerLog:
			h.logs = append(h.logs, rec.Message)
		case journal.Received:
			received[rec.Delivery] = rec
			if _, known := at[rec.Delivery]; !known {
				at[rec.Delivery] = len(h.attempts)
				h.attempts = append(h.attempts, 0)
			}
		case journal.Settled:
			h.settled = append(h.settled, rec.Decision)
		}
	}
	return h
}
