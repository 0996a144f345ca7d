package plan

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// namespace is that of request ids, in network order.
//
// Source: ext GuidManager.cs.
var namespace = [16]byte{0x9e, 0x95, 0x29, 0x59, 0x5e, 0x33, 0x4d, 0xaf, 0x82, 0x7f, 0x2f, 0xa1, 0x29, 0x37, 0xb8, 0x75} // read only

// isoLayout is .NET's round-trip form.
const isoLayout = "2006-01-02T15:04:05.0000000Z"

// RequestID is the id of a request to an entity: UUID version 5 over the instance, the
// time of the turn and a counter (spec durable 5.1).
func RequestID(instance string, now time.Time, counter int) string {
	hash := sha1.New()
	_, _ = hash.Write(namespace[:]) // never fails
	_, _ = fmt.Fprintf(hash, "%s_%s_%d", instance, now.UTC().Format(isoLayout), counter)
	b := hash.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// Request is a message to an entity (spec durable 7.2). Members that are null or false are
// absent.
type Request struct {
	Operation string     `json:"op"`
	Signal    bool       `json:"signal,omitempty"`
	Input     *string    `json:"input,omitempty"` // JSON text
	ID        string     `json:"id"`
	Parent    string     `json:"parent,omitempty"`
	Execution string     `json:"parentExecution,omitempty"`
	Due       *time.Time `json:"due,omitempty"`

	// LockSet are the entities that a request for locks asks for, in their order; Position is
	// the one whose turn it is.
	LockSet  []LockTarget `json:"lockset,omitempty"`
	Position int          `json:"pos,omitempty"`
}

// LockTarget is an entity of a request for locks.
type LockTarget struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Release is the name of the message that ends a lock. Its text has parent and id of the
// request.
const Release = "release"

// String is the message's text.
func (r Request) String() string {
	b, err := json.Marshal(r)
	if err != nil { // texts and times always marshal
		panic(err)
	}
	return string(b)
}

// Answer is what an entity answers to a call.
type Answer struct {
	Result    *string `json:"result,omitempty"` // JSON text
	Exception string  `json:"exceptionType,omitempty"`
}

// isException reports whether an answer is an error.
func isException(input *string) bool {
	var a Answer
	return input != nil && json.Unmarshal([]byte(*input), &a) == nil && a.Exception != ""
}

// entity calls or signals an entity.
func (m *Machine) entity(a *Action) *task {
	id, ok := durable.ParseEntityID(a.InstanceID)
	if _, runs := m.in.Functions.Has(durable.EntityFunction, id.Name); !ok || !runs {
		if a.Kind != CallEntity {
			return m.walk.stop(m.in.Functions.Missing(durable.EntityFunction, id.Name))
		}
		m.known(durable.EntityFunction, id.Name, false)
		return done(true)
	}
	request := Request{Operation: a.Operation, Signal: a.Kind != CallEntity, ID: RequestID(m.in.ID, m.now, m.guids), Parent: m.in.ID, Execution: m.in.Execution}
	m.guids++
	if len(a.Input) > 0 && string(a.Input) != "null" {
		request.Input = text(inputText(a.Input))
	}
	name := "op"
	if a.Kind == ScheduledSignalEntity {
		due := a.FireAt.UTC()
		request.Due = &due
		name += "@" + due.Format(isoLayout)
	}
	what := "signal"
	if a.Kind == CallEntity {
		what = "call"
	}
	s := m.schedule(durable.Event{Type: durable.EventSent, Name: name, InstanceID: id.String(), Input: text(request.String())}, Scheduled{What: what})
	if a.Kind != CallEntity {
		s.task.done = true
		return s.task
	}
	return m.waitFor(request.ID, s)
}

// EntityName is the name in an entity's id, for texts.
func EntityName(id string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(id, "@"), "@")
	return name
}
