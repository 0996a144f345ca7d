package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/schemas"
)

// An expect is what must hold. See schemas/scenario.json.
type expect struct {
	Functions   map[string]ofFunction      `json:"functions"`
	Queues      map[string]bodies          `json:"queues"`
	Hidden      map[string]bodies          `json:"hidden"`
	ServiceBus  map[string]busMessages     `json:"serviceBus"`
	Blobs       map[string]json.RawMessage `json:"blobs"`
	Containers  map[string]blobNames       `json:"containers"`
	EventHubs   map[string]bodies          `json:"eventHubs"`
	Checkpoints map[string]*int64          `json:"checkpoints"`
	Outputs     map[string][]body          `json:"outputs"`
	Elapsed     *spanRange                 `json:"elapsed"`
	Journal     []map[string]any           `json:"journal"`
	Lints       *[]string                  `json:"lints"`
	Timeline    string                     `json:"timeline"`
	Invariants  bool                       `json:"invariants"`
	NothingElse bool                       `json:"nothingElse"`

	Orchestrations map[string]*ofOrchestration `json:"orchestrations"`
	Entities       map[string]json.RawMessage  `json:"entities"`

	held map[string]map[string]bodies // of entities, by the words that services have for it
}

// hold reads what entities of services are to hold.
func (e *expect) hold(services []*ops.Service, raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	for _, s := range services {
		text, ok := given[s.Scene.Held]
		if !ok {
			continue
		}
		var list map[string]bodies
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		if e.held == nil {
			e.held = map[string]map[string]bodies{}
		}
		e.held[s.Scene.Held] = list
	}
	return nil
}

// empty reports whether nothing is expected.
func (e *expect) empty() bool { return reflect.ValueOf(*e).IsZero() }

// bodies are messages or documents: their number, or each.
type bodies struct {
	count  int // -1: the list counts
	list   []body
	absent bool // there is no such place
}

func (b *bodies) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '[':
		b.count = -1
		return json.Unmarshal(raw, &b.list)
	case '{': // exists: false
		b.absent = true
		return nil
	}
	return json.Unmarshal(raw, &b.count)
}

func (b bodies) want() string {
	if b.count >= 0 {
		return fmt.Sprint(b.count)
	}
	return showList(texts(b.list))
}

// An inspection looks at what has come of a run.
type inspection struct{ *run }

// mismatch records what does not hold, with what happened to those concerned.
func (r *run) mismatch(path, message, want, got string, what timeline) {
	line, _ := r.s.doc.Pos(path)
	f := &Failure{File: r.s.File, Line: line, Path: path, Message: message, Want: want, Got: got}
	if what != nil && r.h != nil {
		f.Timeline = shorten(what())
	}
	r.fail(f)
}

// expect looks at everything that an expectation names.
func (r inspection) expect(at string, e *expect) {
	for _, name := range slices.Sorted(maps.Keys(e.Functions)) {
		f := e.Functions[name]
		r.function(schemas.JoinPath(schemas.JoinPath(at, "functions"), name), name, &f)
	}
	r.messages(schemas.JoinPath(at, "queues"), "queue", aQueue, e.Queues, r.visible)
	r.messages(schemas.JoinPath(at, "hidden"), "hidden part of queue", aQueue, e.Hidden, r.hidden)
	r.busMessages(schemas.JoinPath(at, "serviceBus"), e.ServiceBus)
	for _, s := range r.s.language.services {
		r.held(schemas.JoinPath(at, s.Scene.Held), s, e.held[s.Scene.Held])
	}
	taskHub(r).orchestrations(schemas.JoinPath(at, "orchestrations"), e.Orchestrations)
	if e.Entities != nil {
		taskHub(r).durableEntities(schemas.JoinPath(at, "entities"), e.Entities)
	}
	r.blobs(at, e)
	r.events(schemas.JoinPath(at, "eventHubs"), e.EventHubs)
	r.checkpoints(schemas.JoinPath(at, "checkpoints"), e.Checkpoints)
	r.outputs(schemas.JoinPath(at, "outputs"), e.Outputs)
	if e.Elapsed != nil {
		r.ended(schemas.JoinPath(at, "elapsed"), "", e.Elapsed, func(*journal.Record) bool { return true }, r.all)
	}
	r.journal(schemas.JoinPath(at, "journal"), e.Journal)
	if e.Lints != nil {
		r.lints(schemas.JoinPath(at, "lints"), *e.Lints)
	}
	if e.Timeline != "" {
		r.golden(schemas.JoinPath(at, "timeline"), e.Timeline)
	}
	if e.Invariants {
		r.invariants(schemas.JoinPath(at, "invariants"))
	}
	if e.NothingElse {
		r.nothingElse(schemas.JoinPath(at, "nothingElse"), e)
	}
}

// elapsed is the time from the beginning to the end of the last attempt; not ok: none has
// ended.
func (r inspection) elapsed(of func(*journal.Record) bool) (d time.Duration, ok bool) {
	for _, rec := range r.journaled(func(rec *journal.Record) bool { return rec.Kind == journal.AttemptEnded && of(rec) }) {
		d, ok = rec.Time.Sub(r.begins), true
	}
	return d, ok
}

// ended compares the end of the last attempt of those that a message names.
func (r inspection) ended(at, of string, want *spanRange, which func(*journal.Record) bool, concerned timeline) {
	got, ok := r.elapsed(which)
	switch {
	case !ok:
		r.mismatch(at, "no attempt"+of+" has ended", want.text, "none", concerned)
	case !want.holds(got):
		r.mismatch(at, "the last attempt"+of+" ended at another time", want.text, explain.Span(got), concerned)
	}
}

// messages compares messages in one sort of place.
func (r inspection) messages(at, what string, of place, want map[string]bodies, look func(name string) []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		expected, path := want[name], schemas.JoinPath(at, name)
		if r.missing(path, of, name, expected.absent) {
			continue
		}
		got := look(name)
		if expected.count >= 0 {
			if len(got) != expected.count {
				r.mismatch(path, fmt.Sprintf("%s %q holds another number of messages", what, name), expected.want(), fmt.Sprintf("%d: %s", len(got), showList(got)), r.all)
			}
			continue
		}
		same := len(got) == len(expected.list)
		for i := 0; same && i < len(got); i++ {
			same = expected.list[i].matches(got[i])
		}
		if !same {
			r.mismatch(path, fmt.Sprintf("%s %q holds other messages", what, name), expected.want(), showList(got), r.all)
		}
	}
}

// hidden are the bodies of a queue's invisible messages.
func (r inspection) hidden(queue string) []string {
	return r.cast.receiver(queues.Service, queue).HiddenBodies(queue)
}

func (r inspection) visible(queue string) []string {
	return r.cast.receiver(queues.Service, queue).Bodies(queue)
}

// busBodies are the bodies of an entity's messages.
func (r inspection) busBodies(path string) []string {
	list := []string{}
	for _, m := range r.h.ServiceBusMessages(path) {
		list = append(list, string(m.Body))
	}
	return list
}

func (r inspection) checkpoints(at string, want map[string]*int64) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		parts := strings.Split(name, "/")
		path := schemas.JoinPath(at, name)
		if len(parts) != 3 {
			r.mismatch(path, "this names no partition", "hub/group/partition", quote(name), nil)
			continue
		}
		if !r.known(path, aHub, parts[0], false) || !r.known(path, aGroup, parts[0]+"/"+parts[1], false) || !r.known(path, aPartition, parts[0]+"/"+parts[2], false) {
			continue
		}
		show := func(n int64) string {
			if n < 0 {
				return "none"
			}
			return fmt.Sprint(n)
		}
		expected := int64(-1)
		if want[name] != nil {
			expected = *want[name]
		}
		if got := r.h.Checkpoint(parts[0], parts[1], parts[2]); got != expected {
			r.mismatch(path, fmt.Sprintf("the checkpoint of %s is another", name), show(expected), show(got), r.all)
		}
	}
}

func (r inspection) outputs(at string, want map[string][]body) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !r.known(schemas.JoinPath(at, name), anOutput, name, false) {
			continue
		}
		p, own, _ := r.cast.of(name) // a known output begins with its app
		if _, err := p.h.RecordedOutputs(own); err != nil {
			r.mismatch(schemas.JoinPath(at, name), fmt.Sprintf("the values of output %q are not recorded: they go to its service, where an expectation finds them", name), "", "", nil)
			continue
		}
		var got []string
		for _, o := range p.h.Outputs(own) {
			if o.Body != nil {
				got = append(got, *o.Body)
			} else {
				got = append(got, string(o.Binary))
			}
		}
		same := len(got) == len(want[name])
		for i := 0; same && i < len(got); i++ {
			same = want[name][i].matches(got[i])
		}
		if !same {
			function, _, _ := strings.Cut(own, "/")
			function = journal.Qualified(p.name, function)
			r.mismatch(schemas.JoinPath(at, name), fmt.Sprintf("output %q was set to other values", name), showList(texts(want[name])), showList(got), r.of(function))
		}
	}
}

// journal looks for records in their order.
func (r inspection) journal(at string, want []map[string]any) {
	if len(want) == 0 {
		return
	}
	records := r.journaled(func(*journal.Record) bool { return true })
	next := 0
	for i, pattern := range want {
		matches, err := recordPattern(pattern)
		path := schemas.IndexPath(at, i)
		if err != nil {
			r.mismatch(path, err.Error(), "", "", nil)
			return
		}
		found := slices.IndexFunc(records[next:], func(rec journal.Record) bool { return matches(fieldsOf(&rec)) })
		if found < 0 {
			message := "the journal has no such record"
			if slices.ContainsFunc(records[:next], func(rec journal.Record) bool { return matches(fieldsOf(&rec)) }) {
				message = "the journal has such a record only before the one of the pattern above"
			}
			if meant := meantField(pattern, records); meant != "" {
				message += "; " + meant
			}
			text, _ := json.Marshal(pattern)
			r.mismatch(path, message, string(text), "", r.records)
			return
		}
		next += found + 1
	}
}

// lints compares the lints of the app, by their identifiers.
func (r inspection) lints(at string, want []string) {
	got := []string{}
	var texts []string
	for _, p := range r.cast {
		if a := p.h.App(); a != nil {
			for _, l := range served.Report(a, p.h.Env()).Lints {
				got = append(got, l.ID)
				texts = append(texts, l.ID+": "+l.Message)
			}
		}
	}
	if !slices.Equal(got, want) {
		r.mismatch(at, "check has other lints for the app", showWords(want), showWords(got), func() []string { return texts })
	}
}

// fieldsOf are the fields of a record as the journal writes them.
func fieldsOf(rec *journal.Record) map[string]any {
	fields, _ := decoded(rec.AppendLine(nil)).(map[string]any)
	return fields
}

// isExpression reports whether a text of a pattern is a regular expression.
func isExpression(text string) bool {
	return len(text) >= 2 && text[0] == '/' && text[len(text)-1] == '/'
}

// recordPattern compares the fields of a record with those of a pattern.
func recordPattern(want map[string]any) (func(fields map[string]any) bool, error) {
	expressions := map[string]*regexp.Regexp{}
	for key, value := range want {
		text, ok := value.(string)
		if !ok || !isExpression(text) {
			continue
		}
		e, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil {
			return nil, fmt.Errorf("%s is not a regular expression: %w", text, err)
		}
		expressions[key] = e
	}
	return func(fields map[string]any) bool {
		for key, value := range want {
			got, ok := fields[key]
			if e := expressions[key]; e != nil {
				if !ok || !e.MatchString(fmt.Sprint(got)) {
					return false
				}
				continue
			}
			if value == nil && !ok {
				continue
			}
			if !ok || !covers(value, got, true) {
				return false
			}
		}
		return true
	}, nil
}

// showList shows bodies in order.
func showList(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	var b bytes.Buffer
	for i, text := range list {
		if i == 10 {
			fmt.Fprintf(&b, ", ... (%d in all)", len(list))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(text))
	}
	return b.String()
}
