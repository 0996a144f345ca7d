package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// A script is a handler without code.
type script struct {
	actions []*action
	list    bool // written as one
}

// An action is what a script does in an attempt. See schemas/scenario.json.
type action struct {
	Do      string                     `json:"do"`
	Times   int                        `json:"times"`
	Chance  *float64                   `json:"chance"`
	Match   pattern                    `json:"match"`
	Take    span                       `json:"take"`
	After   span                       `json:"after"`
	Error   string                     `json:"error"`
	Reason  string                     `json:"reason"`
	Log     string                     `json:"log"`
	Status  int                        `json:"status"`
	Body    *body                      `json:"body"`
	Outputs map[string]json.RawMessage `json:"outputs"`
	Returns json.RawMessage            `json:"returns"`
}

// A pattern is a regular expression; without one it matches everything.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalJSON(b []byte) (err error) {
	var text string
	if err = json.Unmarshal(b, &text); err == nil {
		p.Regexp, err = regexp.Compile(text)
	}
	return err
}

func (p pattern) matches(text string) bool { return p.Regexp == nil || p.MatchString(text) }

func (s *script) UnmarshalJSON(b []byte) error {
	items := []json.RawMessage{b}
	if s.list = b[0] == '['; s.list {
		items = nil
		if err := json.Unmarshal(b, &items); err != nil {
			return err
		}
	}
	for _, item := range items {
		a := &action{}
		if item[0] == '"' {
			if err := json.Unmarshal(item, &a.Do); err != nil {
				return err
			}
		} else if err := json.Unmarshal(item, a); err != nil {
			return err
		}
		s.actions = append(s.actions, a)
	}
	return nil
}

// A player runs a script for the messages of one run.
type player struct {
	script *script
	seed   uint64

	before *lineage // nil: no message is another's successor

	activity bool // its messages are calls of orchestrations

	mu      sync.Mutex
	done    map[string]int // attempts, by message
	matched []bool         // actions whose pattern some message has matched
}

// next is the action for an attempt of a message.
func (p *player) next(message, body string) *action {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.done[message]
	p.done[message]++
	attempt := n
	for i, a := range p.script.actions {
		p.matched[i] = p.matched[i] || a.Match.matches(body)
	}
	for i, a := range p.script.actions {
		switch {
		case !a.Match.matches(body):
		case a.Chance != nil && p.chance(message, attempt, i) >= *a.Chance:
		case a.Times == 0 || n < a.Times:
			return a
		default:
			n -= a.Times
		}
	}
	return &action{}
}

// chance is the number from [0, 1) that decides about an action in an attempt: the same
// for the same seed, whatever else happens.
func (p *player) chance(message string, attempt, action int) float64 {
	h := fnv.New64a()
	fmt.Fprintln(h, message, attempt, action)
	return rand.New(rand.NewPCG(p.seed, h.Sum64())).Float64()
}

// errScripted is the failure of an action that gives no text.
var errScripted = errors.New("scripted failure")

// run is the handler.
func (p *player) run(ctx context.Context, t *functions.Trigger) error {
	text := t.Text()
	if plain := ""; p.activity && json.Unmarshal([]byte(text), &plain) == nil {
		text = plain // workers are given JSON, and patterns are of what it says
	}
	a := p.next(p.messageOf(ctx, text), text)
	if a.Log != "" {
		functions.Logger(ctx).InfoContext(ctx, a.Log)
	}
	if a.Take > 0 {
		if err := functions.Sleep(ctx, time.Duration(a.Take)); err != nil {
			return err
		}
	}
	err := errScripted
	if a.Error != "" {
		err = errors.New(a.Error)
	}
	switch a.Do {
	case "fail":
		return err
	case "permanent":
		return functions.Permanent(err)
	case "poison":
		return functions.Poison(err)
	case "deadLetter":
		return functions.DeadLetter(a.Reason, err.Error(), err)
	case "retryNow":
		return functions.RetryNow(err)
	case "retryAfter":
		return functions.RetryAfter(err, time.Duration(a.After))
	case "panic":
		panic(err.Error())
	case "hang":
		return functions.Sleep(ctx, forever)
	}
	return p.answer(ctx, a)
}

// forever is longer than any timeout.
const forever = 10 * 365 * 24 * time.Hour

// answer sets the outputs and the answer of an attempt that succeeds.
func (p *player) answer(ctx context.Context, a *action) error {
	for name, value := range a.Outputs {
		var v any = value
		if value[0] == '"' {
			v = textOf(value)
		}
		if err := functions.SetOutput(ctx, name, v); err != nil {
			return fmt.Errorf("scripted output: %w", err)
		}
	}
	if a.Returns != nil {
		return functions.SetReturn(ctx, a.Returns)
	}
	if a.Status == 0 && a.Body == nil {
		return nil
	}
	response := map[string]any{"statusCode": 200, "body": ""} // without a body it would be one
	if a.Status != 0 {
		response["statusCode"] = a.Status
	}
	if a.Body != nil {
		response["body"] = a.Body.text()
	}
	return functions.SetReturn(ctx, response)
}

// messageOf names what an attempt works on. What has no identifier, such as a request or
// a tick, begins anew with each delivery.
func (p *player) messageOf(ctx context.Context, body string) string {
	inv := functions.FromContext(ctx)
	if instance, _, ok := strings.Cut(inv.MessageID, "#"); ok && p.activity {
		return instance + "#" + body // a retry of the orchestrator is another call with the same input
	}
	if inv.MessageID != "" {
		message := inv.MessageID + inv.Metadata.Get("SequenceNumber") // of Service Bus, whose senders choose identifiers
		p.continued(message, inv.MessageID)
		return message
	}
	if inv.Retry == nil || inv.Retry.RetryCount == 0 {
		p.mu.Lock()
		delete(p.done, body)
		p.mu.Unlock()
	}
	return body
}

// activitiesOnly reports whether the scripts are of activities, and the app's own worker runs
// everything else: orchestrators above all, which nobody can script (spec durable 12.4). Of
// functions that code declares it is looked at when the app has started.
func (s *Scenario) activitiesOnly(dir string) bool {
	if s.App == "" || s.of != "" || s.attached || s.played {
		return false
	}
	described, scripts := describedIn(dir), 0
	for name, f := range s.Functions {
		switch {
		case f.Trigger != nil:
			return false
		case f.Handler == nil:
		case hasName(described, name):
			own, err := s.functionFile(dir, name)
			if err != nil || !slices.ContainsFunc(bindingsIn(own), isActivity) {
				return false
			}
			scripts++
		case len(described) > 0:
			return false // it is not of the app, which says so in its own way
		default:
			scripts++
		}
	}
	return scripts > 0
}

func isActivity(binding map[string]any) bool {
	kind, _ := binding["type"].(string)
	return strings.EqualFold(kind, app.ActivityTrigger)
}

// activitiesScripted reports whether the scripts of an app are of its activities, and a worker
// runs the rest; else the run has failed.
func (r *run) activitiesScripted(p *part) (ok bool) {
	ok = true
	a := p.app()
	if a == nil {
		return true // what is wrong is said elsewhere
	}
	var activities []string
	for _, f := range a.Functions {
		if f.Trigger != nil && f.Trigger.Is(app.ActivityTrigger) {
			activities = append(activities, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.s.Functions)) {
		switch {
		case r.s.Functions[name].Handler == nil || hasName(activities, name) && a.Handler.Kind == app.Language:
			continue
		case a.Function(name) == nil:
			reason := fmt.Sprintf("the app has no activity %q", name)
			if near := schemas.Meant(name, activities); near != "" {
				reason += fmt.Sprintf("; did you mean %q?", near)
			}
			r.refuse(r.s.fault(r.s.path(name), reason, strings.Join(append(activities, "a function with a trigger"), ", ")))
		default:
			r.refuse(r.s.fault(schemas.JoinPath(r.s.path(name), "handler"), "the function is declared in code, and only activities of a language worker can be scripted beside the app's own functions", "a function that the app describes in a function.json, or an activity"))
		}
		ok = false
	}
	return ok
}

// orchestratorFaults are scripts of orchestrators and entities, and what activities alone have.
func (s *Scenario) orchestratorFaults(name string, f function) (faults []*schemas.Fault) {
	at := schemas.JoinPath("functions", name)
	kind, _ := f.Trigger["type"].(string)
	if strings.EqualFold(kind, app.OrchestrationTrigger) || strings.EqualFold(kind, app.EntityTrigger) {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "trigger.type"), schemas.Quote(kind), "an app with the orchestrator's code, and scripts of its activities", "orchestrators and entities cannot be scripted"))
	}
	if f.Handler == nil {
		return faults
	}
	for i, a := range f.Handler.actions {
		if a.Returns == nil {
			continue
		}
		at := schemas.JoinPath(f.Handler.path(at, i), "returns")
		switch {
		case f.Trigger != nil && !strings.EqualFold(kind, app.ActivityTrigger):
			faults = append(faults, s.doc.Fault(at, "", "status and body of an answer, or outputs", "only an activity returns a value"))
		case a.Do != "" && a.Do != "succeed":
			faults = append(faults, s.doc.Fault(at, "", "one of them", "an attempt that ends as "+a.Do+" returns nothing"))
		case a.Status != 0 || a.Body != nil:
			faults = append(faults, s.doc.Fault(at, "", "one of them", "the action has an answer and a value"))
		}
	}
	return faults
}
