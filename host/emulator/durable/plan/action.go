package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is what an action asks for, by the platform's numbers (spec durable 3.5).
type Kind int

// The actions.
const (
	CallActivity Kind = iota
	CallActivityWithRetry
	CallSubOrchestrator
	CallSubOrchestratorWithRetry
	ContinueAsNew
	CreateTimer
	WaitForExternalEvent
	CallEntity
	CallHTTP
	SignalEntity
	ScheduledSignalEntity
	WhenAny
	WhenAll
	LockEntities
	ReleaseEntities
	unknownKind Kind = -1
)

var kindNames = [...]string{"CallActivity", "CallActivityWithRetry", "CallSubOrchestrator", "CallSubOrchestratorWithRetry", "ContinueAsNew",
	"CreateTimer", "WaitForExternalEvent", "CallEntity", "CallHttp", "SignalEntity", "ScheduledSignalEntity", "WhenAny", "WhenAll", "LockEntities", "ReleaseEntities"} // read only

// String is the platform's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Action is one entry of a plan.
type Action struct {
	Kind       Kind
	Name       string // of a function or an event
	InstanceID string
	Operation  string
	Input      json.RawMessage // nil: absent
	Version    string
	FireAt     time.Time
	Canceled   bool
	Retry      *RetryOptions
	HTTP       *httpRequest
	LockSet    int // entries
	Children   []*Action

	noChildren bool   // a compound without compoundActions
	as         string // of an unknown kind: as it was written
	raw        []byte // compact
}

// RetryOptions are those of an action (spec durable 4.6).
type RetryOptions struct {
	First, Max, Timeout time.Duration // Max, Timeout 0: none
	Attempts            int
	Coefficient         float64 // 0: 1
}

type actionJSON struct {
	ActionType json.RawMessage `json:"actionType"`
	Function   string          `json:"functionName"`
	Event      string          `json:"externalEventName"`
	InstanceID *string         `json:"instanceId"`
	Operation  string          `json:"operation"`
	Input      json.RawMessage `json:"input"`
	Version    *string         `json:"version"`
	FireAt     *string         `json:"fireAt"`
	Canceled   bool            `json:"isCanceled"`
	Retry      *retryJSON      `json:"retryOptions"`
	HTTP       json.RawMessage `json:"httpRequest"`
	LockSet    []any           `json:"lockSet"`
	Compound   []*Action       `json:"compoundActions"`
}

// UnmarshalJSON reads an action as packages write it.
func (a *Action) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return fmt.Errorf("an action is %s: want an object", shorten(string(data)))
	}
	var r actionJSON
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	*a = Action{
		Name: r.Function, Operation: r.Operation, Input: r.Input, Canceled: r.Canceled, LockSet: len(r.LockSet), Children: r.Compound, noChildren: r.Compound == nil,
	}
	a.Kind, a.as = kindOf(r.ActionType)
	if a.Kind == WaitForExternalEvent {
		a.Name = r.Event
	}
	if r.InstanceID != nil {
		a.InstanceID = *r.InstanceID
	}
	if r.Version != nil {
		a.Version = *r.Version
	}
	if err := a.readTimes(&r); err != nil {
		return err
	}
	for _, child := range a.Children {
		if child == nil {
			return fmt.Errorf("a compound action has null: want an object")
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	a.raw = compact.Bytes()
	return nil
}

// readTimes reads what has times, and the request of callHttp.
func (a *Action) readTimes(r *actionJSON) (err error) {
	if r.FireAt != nil {
		if a.FireAt, err = parseTime(*r.FireAt); err != nil {
			return fmt.Errorf("fireAt %q of %s is no time", *r.FireAt, a.Kind)
		}
	} else if a.Kind == CreateTimer || a.Kind == ScheduledSignalEntity {
		return fmt.Errorf("%s has no fireAt", a.Kind)
	}
	if r.Retry != nil {
		if a.Retry, err = r.Retry.options(); err != nil {
			return err
		}
	}
	if a.Kind == CallHTTP {
		a.HTTP, err = parseRequest(r.HTTP)
	}
	return err
}

// kindOf reads an action's type, a number or a name.
func kindOf(raw json.RawMessage) (Kind, string) {
	text := strings.Trim(string(raw), `"`)
	if n, err := strconv.Atoi(text); err == nil {
		if n >= 0 && n < len(kindNames) {
			return Kind(n), ""
		}
		return unknownKind, text
	}
	for i, name := range kindNames {
		if strings.EqualFold(name, text) {
			return Kind(i), ""
		}
	}
	return unknownKind, text
}

type retryJSON struct {
	First       *json.Number `json:"firstRetryIntervalInMilliseconds"`
	Attempts    *json.Number `json:"maxNumberOfAttempts"`
	Coefficient *float64     `json:"backoffCoefficient"`
	Max         *json.Number `json:"maxRetryIntervalInMilliseconds"`
	Timeout     *json.Number `json:"retryTimeoutInMilliseconds"`
	Codes       []int        `json:"statusCodesToRetry"`
}

// errInt32 is the platform's text for a number that does not fit.
const errInt32 = platformText("Value was either too large or too small for an Int32.")

func (r *retryJSON) options() (*RetryOptions, error) {
	out := &RetryOptions{}
	if r.Coefficient != nil {
		out.Coefficient = *r.Coefficient
	}
	var ms [4]int
	for i, n := range []*json.Number{r.First, r.Attempts, r.Max, r.Timeout} {
		if n == nil {
			continue
		}
		v, err := n.Float64()
		if err != nil || v != math.Trunc(v) || v > math.MaxInt32 || v < math.MinInt32 {
			return nil, errInt32
		}
		ms[i] = int(v)
	}
	out.First, out.Attempts = time.Duration(ms[0])*time.Millisecond, ms[1]
	out.Max, out.Timeout = time.Duration(ms[2])*time.Millisecond, time.Duration(ms[3])*time.Millisecond
	return out, nil
}

// parseTime reads a time as packages write it: RFC 3339, UTC when it names no zone.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	if t = t.UTC(); err == nil && (t.Year() < 0 || t.Year() > 9999) {
		err = fmt.Errorf("the year %d is none of JSON's", t.Year())
	}
	return t, err
}

// shorten is a text of at most 80 bytes.
func shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:77], "") + "..."
}
