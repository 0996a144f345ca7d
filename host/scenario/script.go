package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions"
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
