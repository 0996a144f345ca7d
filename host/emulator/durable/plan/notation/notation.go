// Package notation reads and writes histories, plans and results in the short form of the
// specification's worked examples, for tests (spec durable 4.12): a history as in
// "S@0 X T0 A / S@0 ok0", a plan with its state as in "act A, done 5".
//
// Text that is not in the notation panics: it is the text of a test.
package notation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// Start is 0h of the worked examples.
var Start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // read only

// At reads a time: 0, 90s, 5m, 1h, 3d.
func At(s string) time.Time {
	days := time.Duration(0)
	if n, ok := strings.CutSuffix(s, "d"); ok {
		d, err := strconv.Atoi(n)
		if err != nil {
			panic(err)
		}
		days, s = time.Duration(d)*24*time.Hour, "0"
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return Start.Add(days + d)
}

var numbered = regexp.MustCompile(`^(T|C|E|ok|no|f|W)(\d+)(?:→(.*))?$`) // read only

// History reads a history. guid is the id of a request to an entity, which is written "ev $1".
func History(text string, guid func(n int, now time.Time) string) []durable.Event {
	var list []durable.Event
	var now time.Time
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		word := func() string { i++; return words[i] }
		e := durable.Event{ID: -1}
		switch m := numbered.FindStringSubmatch(w); {
		case w == "/":
			e.Type = durable.OrchestratorCompleted
		case w == "X":
			e.Type, e.Name = durable.ExecutionStarted, "O"
		case strings.HasPrefix(w, "S@"):
			e.Type, now = durable.OrchestratorStarted, At(w[2:])
		case w == "ev":
			e.Type = durable.EventRaised
			var data string
			e.Name, data, _ = strings.Cut(word(), "=")
			if n, ok := strings.CutPrefix(e.Name, "$"); ok {
				count, _ := strconv.Atoi(n)
				e.Name = guid(count, now)
			}
			e.Input = &data
		case m != nil:
			n, _ := strconv.Atoi(m[2])
			numberedEvent(&e, m[1], n, m[3], word)
		default:
			panic(fmt.Sprintf("%q is no event", w))
		}
		e.Time = now
		list = append(list, e)
	}
	return list
}

func numberedEvent(e *durable.Event, kind string, n int, due string, word func() string) {
	switch kind {
	case "T":
		e.Type, e.ID, e.Name = durable.TaskScheduled, n, word()
	case "C":
		e.Type, e.ID, e.Name = durable.SubOrchestrationInstanceCreated, n, word()
	case "E":
		e.Type, e.ID, e.Name = durable.EventSent, n, word()
	case "W":
		e.Type, e.ID, e.FireAt = durable.TimerCreated, n, At(due)
	case "ok":
		e.Type, e.Task = durable.TaskCompleted, n
	case "no":
		e.Type, e.Task = durable.TaskFailed, n
	case "f":
		e.Type, e.Task = durable.TimerFired, n
	}
}

// reader reads a plan.
type reader struct {
	rest string
}

func (r *reader) eat(s string) bool {
	r.rest = strings.TrimLeft(r.rest, " ")
	rest, ok := strings.CutPrefix(r.rest, s)
	if ok {
		r.rest = rest
	}
	return ok
}

// word takes up to a comma, bracket or blank.
func (r *reader) word() string {
	r.rest = strings.TrimLeft(r.rest, " ")
	i := strings.IndexAny(r.rest, " ,[]()")
	if i < 0 {
		i = len(r.rest)
	}
	w := r.rest[:i]
	r.rest = r.rest[i:]
	return w
}

type object = map[string]any

// list reads actions up to end, and the state behind them.
func (r *reader) list(end string) (actions []any, state object) {
	actions, state = []any{}, object{}
	for {
		switch {
		case r.eat(","):
		case end != "" && r.eat(end), r.rest == "":
			return actions, state
		case r.eat("—"):
		case r.eat("done"):
			state["isDone"] = true
			if v := r.word(); v != "" {
				state["output"] = json.RawMessage(v)
			}
		case r.eat("err"):
			state["error"] = r.word()
		default:
			actions = append(actions, r.action())
		}
	}
}

func (r *reader) action() object {
	switch kind := r.word(); kind {
	case "act":
		return object{"actionType": 0, "functionName": r.word(), "input": 1}
	case "retry":
		name := r.word()
		r.eat("(")
		return object{"actionType": "CallActivityWithRetry", "functionName": name, "retryOptions": r.options()}
	case "resub":
		name := r.word()
		r.eat("(")
		return object{"actionType": "CallSubOrchestratorWithRetry", "functionName": name, "retryOptions": r.options()}
	case "sub":
		o := object{"actionType": 2, "functionName": r.word(), "input": 3}
		if r.eat("as ") {
			o["instanceId"] = r.word()
		}
		return o
	case "can":
		return object{"actionType": 4, "input": json.RawMessage(r.word())}
	case "tim":
		fire := At(r.word()).Format("2006-01-02T15:04:05.000Z")
		return object{"actionType": 5, "fireAt": fire, "isCanceled": r.eat("x")}
	case "ev":
		return object{"actionType": 6, "externalEventName": r.word(), "reason": "ExternalEvent"}
	case "call":
		return object{"actionType": 7, "instanceId": r.word(), "operation": r.word()}
	case "sig":
		return object{"actionType": 9, "instanceId": r.word(), "operation": r.word(), "input": json.RawMessage(r.word())}
	case "any", "all":
		r.eat("[")
		children, _ := r.list("]")
		return object{"actionType": map[string]int{"any": 11, "all": 12}[kind], "compoundActions": children}
	default:
		panic(fmt.Sprintf("%q is no action", kind))
	}
}

func (r *reader) options() object {
	o := object{"firstRetryIntervalInMilliseconds": At(r.word()).Sub(Start).Milliseconds()}
	r.eat(",")
	o["maxNumberOfAttempts"] = json.RawMessage(r.word())
	for r.eat(",") {
		switch {
		case r.eat("×"):
			o["backoffCoefficient"] = json.RawMessage(r.word())
		case r.eat("timeout"):
			o["retryTimeoutInMilliseconds"] = At(r.word()).Sub(Start).Milliseconds()
		}
	}
	r.eat(")")
	return o
}

// Reply reads a plan with its state; groups of V1 are in brackets.
func Reply(text string) durable.Reply {
	r := &reader{text}
	if r.eat("label ") {
		return durable.Reply{Failed: true, Message: "false\n\n$OutOfProcData$:" + r.rest}
	}
	var state object
	if r.eat("groups") {
		var groups []any
		for r.eat("[") {
			group, s := r.list("]")
			groups, state = append(groups, group), s
		}
		state["actions"] = groups
	} else {
		var actions []any
		actions, state = r.list("")
		state["actions"], state["schemaVersion"] = []any{actions}, 2
	}
	b, err := json.Marshal(state)
	if err != nil {
		panic(err)
	}
	return durable.Reply{Value: string(b)}
}

// Events writes new events in the notation.
func Events(r *plan.Result) string {
	var out []string
	for i, e := range r.Events {
		switch e.Type {
		case durable.TaskScheduled:
			out = append(out, fmt.Sprintf("T%d %s", e.ID, e.Name))
		case durable.SubOrchestrationInstanceCreated:
			out = append(out, fmt.Sprintf("C%d %s", e.ID, e.InstanceID))
		case durable.TimerCreated:
			out = append(out, fmt.Sprintf("W%d→%s", e.ID, sinceStart(e.FireAt)))
		case durable.EventSent:
			out = append(out, fmt.Sprintf("E%d %s", e.ID, r.Scheduled[i].What))
		}
	}
	return strings.Join(out, ", ")
}

func sinceStart(t time.Time) string {
	d := t.Sub(Start)
	if d%(24*time.Hour) == 0 && d > 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// Outcome writes how an execution ends, with its value; "" for nil.
func Outcome(o *plan.Outcome) string {
	if o == nil {
		return ""
	}
	s := o.Status.String()
	if o.Value != nil {
		s += " " + *o.Value
	}
	return s
}
