package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/host/timespan"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Drive moves time: exactly one of by, next, idle, until and jump says how far. It has no
// limit in real time, for time stands still while a handler runs; when its caller leaves, time
// stops before the next move.
type Drive struct {
	ops.Op[Driven] `route:"POST /hosts/{id}/drive" body:"json"`

	ID      string         `path:"id" json:"-"`
	By      *Span          `json:"by,omitempty"`      // through every deadline on the way; "0s" does what is due now
	Jump    *Span          `json:"jump,omitempty"`    // at once, as the clock of a machine does that has slept
	Next    bool           `json:"next,omitempty"`    // to what is due next
	Idle    bool           `json:"idle,omitempty"`    // until nothing is left to happen
	Until   map[string]any `json:"until,omitempty"`   // a pattern of a record, as a scenario's "journal" has it, or one of: settled, poisoned, completed, checkpointed (a function, or true for any), deadLettered (an entity, or true)
	After   *uint64        `json:"after,omitempty"`   // only records after this number; the record of the wait before unless it is there
	Horizon *Span          `json:"horizon,omitempty"` // of virtual time, from now; 7 days unless it is there
}

// Driven says where time stands now.
type Driven struct {
	Stopped  string          `json:"stopped"` // met, idle, horizon, crashed
	Now      time.Time       `json:"now"`
	Seq      uint64          `json:"seq"`                // number of the journal's last record; of the record, if there is one
	Record   json.RawMessage `json:"record,omitempty"`   // that Until has met, as the journal has it
	Text     string          `json:"text,omitempty"`     // why what was waited for can no longer come
	Timeline []string        `json:"timeline,omitempty"` // and what happened instead, equal attempts folded
	Logs     []LogLine       `json:"logs,omitempty"`     // of the handlers, the last 50
}

// A Span is a span of virtual time in any of its forms: "30s", "2d", "00:00:30", "PT30S".
type Span time.Duration

// spanError is why a text is no Span.
type spanError struct{ text string }

func (e *spanError) Error() string { return e.text }

// UnmarshalJSON reads a span. Time moves forward only: one below zero is none.
func (s *Span) UnmarshalJSON(text []byte) error {
	var given string
	if err := json.Unmarshal(text, &given); err != nil {
		return &spanError{fmt.Sprintf("%s is no span of time: want a text such as \"30s\", \"2d\" or \"00:00:30\"", text)}
	}
	d, err := timespan.Parse(given)
	if err != nil {
		return &spanError{fmt.Sprintf("%q is no span of time: want one %s", given, timespan.Forms)}
	}
	if d < 0 {
		return &spanError{fmt.Sprintf("%q is below zero, and time moves forward only", given)}
	}
	*s = Span(d)
	return nil
}

// MarshalJSON writes a span as the journal does.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).String()) }

// usualHorizon is how far a wait looks ahead.
const usualHorizon = Span(7 * 24 * time.Hour)

// Do implements the operation.
func (in Drive) Do(ctx context.Context, h *Host) (out Driven, err error) {
	n := 0
	for _, given := range []bool{in.By != nil, in.Jump != nil, in.Next, in.Idle, in.Until != nil} {
		if given {
			n++
		}
	}
	if n != 1 {
		return out, refuse(http.StatusBadRequest, BadRequest, "say one of by, jump, next, idle and until: %d are there", n)
	}
	if err := in.limits(); err != nil {
		return out, err
	}
	ctx, leave := context.WithCancel(ctx) //clock:outside the caller is of the real world
	defer leave()
	defer context.AfterFunc(h.life, leave)() //clock:outside so is who ends the host
	err = h.running(ctx, func() error {
		out, err = in.drive(ctx, h)
		return err
	})
	return out, err
}

// limits refuses limits that would not count, or with which nothing could come.
func (in Drive) limits() error {
	switch {
	case in.After != nil && in.Until == nil:
		return refuse(http.StatusBadRequest, BadRequest, "after is for until: nothing else looks at records")
	case in.Horizon != nil && in.Until == nil && !in.Idle:
		return refuse(http.StatusBadRequest, BadRequest, "horizon is for until and idle: by, jump and next say themselves how far time moves")
	case in.Horizon != nil && *in.Horizon == 0:
		return refuse(http.StatusBadRequest, BadRequest, "horizon is zero: time could not move")
	}
	return nil
}

func (in Drive) drive(ctx context.Context, h *Host) (out Driven, err error) {
	if in.Horizon == nil {
		usual := usualHorizon
		in.Horizon = &usual
	}
	begin := h.session.Host().Clock().Now()
	if in.Until != nil {
		return in.wait(ctx, h)
	}
	met := false
	var left error
	err = h.call(func() {
		drive := h.session.Host().For(ctx)
		switch {
		case in.By != nil:
			met, left = true, drive.Advance(asTime(*in.By))
		case in.Jump != nil:
			met, left = true, drive.Jump(asTime(*in.Jump))
		case in.Next:
			met, left = h.next(ctx)
		default:
			_, left = drive.Until(h.session.Crashed, asTime(*in.Horizon))
		}
	})
	if err = cmp.Or(err, left); err != nil {
		return out, err
	}
	return in.stopped(h, met, begin), nil
}

// wait moves time until a record is there that is waited for.
func (in Drive) wait(ctx context.Context, h *Host) (out Driven, err error) {
	want, err := h.wanted(in.Until)
	if err != nil {
		return out, err
	}
	host, read := h.session.Host(), h.read
	if in.After != nil {
		if last := host.Journal().Len(); *in.After > last {
			return out, refuse(http.StatusBadRequest, BadRequest, "after is %d, and the journal's last record is %d", *in.After, last)
		}
		if read, err = h.session.From(*in.After); err != nil {
			return out, refuse(http.StatusBadRequest, BadRequest, "after: %v", err)
		}
	}
	begin, met := host.Clock().Now(), false
	var found journal.Record
	var left error
	err = h.call(func() {
		_, left = host.For(ctx).Until(func() bool {
			if !met {
				found, read, met = h.session.Find(read, want.match)
			}
			return met || h.session.Crashed()
		}, asTime(*in.Horizon))
	})
	if err = cmp.Or(err, left); err != nil {
		return out, err
	}
	if out = in.stopped(h, met, begin); met {
		h.read, h.last, out.Seq = read, found.Seq, found.Seq
		out.Stopped, out.Record = "met", found.AppendLine(nil)
		return out, nil
	}
	records := h.session.Records()
	out.Text = want.missed(out.Stopped, explain.Span(asTime(*in.Horizon))) + want.instead(records) + want.before(host.Journal().Records(), h.last) + without(records)
	out.Timeline, out.Logs = folded(h.session.Timeline(true)), lastLogs(h.session.Records())
	return out, nil
}

// tick is a time as the journal has it, in steps of 100 ns: what is equal there is equal here.
func tick(t time.Time) time.Time { return t.UTC().Truncate(100 * time.Nanosecond) }

// stopped says why a drive has stopped.
func (in Drive) stopped(h *Host, met bool, begin time.Time) Driven {
	host := h.session.Host()
	out := Driven{Now: tick(host.Clock().Now()), Seq: host.Journal().Len(), Stopped: "idle"}
	switch {
	case h.session.Crashed():
		out.Stopped = "crashed"
	case met:
		out.Stopped = "met"
	case out.Now.Sub(begin) >= asTime(*in.Horizon):
		out.Stopped = "horizon"
	}
	return out
}

func asTime(s Span) time.Duration { return time.Duration(s) }

// next moves time to what is due next, as the control API does.
func (h *Host) next(ctx context.Context) (moved bool, err error) {
	host := h.session.Host()
	_, err = run.NextDeadline{}.Do(ctx, &ops.Env{Host: host.Host})
	if refused, ok := err.(*ops.Error); ok && refused.Status == http.StatusConflict {
		return false, nil
	}
	return err == nil, err
}

// wanted is the record that a wait is for.
type wanted struct {
	what     string
	match    func(*journal.Record) bool
	function string // whose deliveries are waited for; empty: anything else is
}

// instead says how deliveries of the function have ended, when one is waited for that has not
// ended so: a checkpoint is no completion, and a message that nobody has sent is none.
func (w *wanted) instead(records []journal.Record) string {
	if w.function == "" {
		return ""
	}
	received, listener := false, ""
	var ends []string
	for _, r := range records {
		if !strings.EqualFold(r.Function, w.function) {
			continue
		}
		received = received || r.Kind == journal.Received
		if r.Kind == journal.FunctionError && r.Error != "" {
			listener = r.Error
		}
		if r.Kind == journal.Settled && !slices.Contains(ends, r.Decision) {
			ends = append(ends, r.Decision)
		}
	}
	switch {
	case len(ends) > 0:
		return " (its deliveries were settled as " + strings.Join(ends, ", ") + ")"
	case received:
		return " (it has had deliveries, and none is settled)"
	}
	if listener != "" {
		return " (it has had no delivery; its listener has failed: " + listener + ")"
	}
	return " (it has had no delivery: was anything sent to it?)"
}

// before says that what is waited for has come, and that an earlier wait went past it: last is
// the record that it has returned.
func (w *wanted) before(records []journal.Record, last uint64) string {
	for _, r := range records {
		if r.Seq < last && w.match(&r) {
			return fmt.Sprintf("\nrecord %d is one, but an earlier wait has returned a later one (%d): wait for things in the order in which they happen, or look at the journal", r.Seq, last)
		}
	}
	return ""
}

// without says that virtual time has gone on without a handler, which then failed by its
// timeout and by nothing that it did; empty: time has waited for all. A handler of another
// process that waits in real time is taken for one that hangs.
func without(records []journal.Record) string {
	for _, r := range records {
		if r.Kind == journal.ClockMoved && r.Cause == clock.PatienceUsedUp.String() {
			return fmt.Sprintf("\nvirtual time has gone on without a handler: %s; one that waits so long in real time runs in the test's own process, or waits in virtual time", r.Beside.Detail)
		}
	}
	return ""
}

func (w *wanted) missed(stopped, horizon string) string {
	switch stopped {
	case "crashed":
		return w.what + " has not come: the host has crashed"
	case "horizon":
		return w.what + " has not come within " + horizon + " of virtual time"
	}
	return w.what + " has not come, and nothing is left to happen"
}

// named are the waits that have names: what they are for, and how a record is told by.
var named = map[string]struct {
	what  string
	of    string // a function or an entity
	match func(r *journal.Record) bool
}{ // read only
	"settled": {"a settlement", "a function", func(r *journal.Record) bool { return r.Kind == journal.Settled }},
	"completed": {"a successful settlement", "a function", func(r *journal.Record) bool {
		return r.Kind == journal.Settled && (r.Decision == string(triggers.Deleted) || r.Decision == string(triggers.Completed))
	}},
	"poisoned": {"a poisoned message", "a function", func(r *journal.Record) bool {
		return r.Kind == journal.Settled && r.Decision == string(triggers.Poisoned)
	}},
	"checkpointed": {"a checkpoint", "a function", func(r *journal.Record) bool {
		return r.Kind == journal.CheckpointWritten || r.Kind == journal.Settled && r.Decision == string(triggers.Checkpointed)
	}},
	"deadLettered": {"a dead-lettered message", "an entity", func(r *journal.Record) bool { return r.Kind == journal.DeadLettered }},
}

// wanted reads what a wait is for.
func (h *Host) wanted(until map[string]any) (*wanted, error) {
	for name, by := range named {
		value, ok := until[name]
		if !ok {
			continue
		}
		if len(until) > 1 {
			return nil, refuse(http.StatusBadRequest, BadRequest, "until.%s stands alone", name)
		}
		if value == true {
			return &wanted{what: by.what, match: by.match}, nil
		}
		text, ok := value.(string)
		if !ok || text == "" {
			return nil, refuse(http.StatusBadRequest, BadRequest, "until.%s: want the name of %s, or true", name, by.of)
		}
		if by.of == "an entity" {
			if err := h.session.KnownEntity(text); err != nil {
				return nil, refuse(http.StatusNotFound, NotFound, "until.%s: %v", name, err)
			}
			return &wanted{what: by.what + " of " + text, match: func(r *journal.Record) bool { return by.match(r) && isEntity(r.Source, text) }}, nil
		}
		function, err := h.session.Known(text)
		if err != nil {
			return nil, refuse(http.StatusNotFound, NotFound, "until.%s: %v", name, err)
		}
		return &wanted{by.what + " of " + function, func(r *journal.Record) bool { return by.match(r) && strings.EqualFold(r.Function, function) }, function}, nil
	}
	return h.pattern("until", until)
}

// isEntity reports whether a record's source is an entity: "events/Subscriptions/all" is the
// subscription of "events/all" too.
func isEntity(source, entity string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Replace(s, "/Subscriptions/", "/", 1)) }
	return plain(source) == plain(entity)
}

// pattern reads a pattern of a record, a member of a request. Names and values that no record
// has are refused: a slip would wait for ever.
func (h *Host) pattern(of string, until map[string]any) (*wanted, error) {
	text, err := json.Marshal(until)
	if err != nil || len(until) == 0 {
		return nil, refuse(http.StatusBadRequest, BadRequest, "%s is empty: any record would match", of)
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	_ = dec.Decode(&fields) // it was just written
	doc, fault := schemas.Parse(of, text)
	if fault != nil {
		return nil, invalid(BadRequest, []*schemas.Fault{fault})
	}
	if unknown := doc.Unknown(schemas.Journal); len(unknown) > 0 {
		f := unknown[0]
		reason := fmt.Sprintf("%s.%s: no record has this member", of, f.Path)
		known := slices.Sorted(maps.Keys(named))
		if near := schemas.Meant(f.Path, known); near != "" {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		if f.Hint != "" {
			reason += "; " + f.Hint
		}
		return nil, refuse(http.StatusBadRequest, BadRequest, "%s", reason)
	}
	if err := h.words(of, until, fields); err != nil {
		return nil, err
	}
	if err := misfit(of, until); err != nil {
		return nil, err
	}
	match, err := scenario.Pattern(fields)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, BadRequest, "%s: %v", of, err)
	}
	return &wanted{what: "a record " + string(text), match: match}, nil
}

// misfit refuses a value that its member never has, such as a text for a number.
func misfit(of string, until map[string]any) error {
	plain := map[string]any{}
	for name, value := range until {
		switch value := value.(type) {
		case string:
			if !expression(value) {
				plain[name] = value
			}
		case json.Number, float64, bool:
			plain[name] = value
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	doc, fault := schemas.Parse(of, text)
	if fault != nil {
		return invalid(BadRequest, []*schemas.Fault{fault})
	}
	for _, f := range doc.Validate(schemas.Journal) {
		if _, given := plain[f.Path]; given {
			return refuse(http.StatusBadRequest, BadRequest, "%s.%s: no record has %s here: want %s", of, f.Path, f.Found, f.Allowed)
		}
	}
	return nil
}
