// Package trace names the spans of deliveries and attempts, and reads the trace context
// that messages bring from their senders.
//
// The names come from the run, the delivery and the attempt alone. So the host can hand a
// handler the context of a span that somebody else makes later from the journal
// (host/telemetry), and nobody has to tell the other anything; and the same seed gives the
// same names in virtual time.
package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A Run is one run of one host. A nil *Run hands out nothing.
type Run struct {
	name    string
	sampler Sampler
}

// NewRun returns the run of a host that is one of several on the same storage, with its
// seed and the time of its clock at its beginning.
func NewRun(instance string, seed uint64, start time.Time) *Run {
	return &Run{name: fmt.Sprintf("%s %d %d", instance, seed, start.UnixNano())}
}

// An ID names a trace; a SpanID a span of it. Zero is none.
type (
	ID     [16]byte
	SpanID [8]byte
)

// A Parent is the context of a span of somebody else.
type Parent struct {
	Trace   ID
	Span    SpanID
	Sampled bool
	State   string // tracestate, as it came
}

// Delivery names the span of a delivery. It is in the sender's trace, if there is one.
func (r *Run) Delivery(delivery string, sender Parent) (trace ID, span SpanID) {
	if trace = sender.Trace; trace == (ID{}) {
		copy(trace[:], r.hash("trace", delivery))
	}
	copy(span[:], r.hash("span", delivery))
	return trace, span
}

// Attempt names the span of an attempt, which is in the trace of its delivery.
func (r *Run) Attempt(delivery string, attempt int) (span SpanID) {
	copy(span[:], r.hash("attempt "+strconv.Itoa(attempt), delivery))
	return span
}

func (r *Run) hash(what, delivery string) []byte {
	sum := sha256.Sum256([]byte(r.name + "\n" + what + "\n" + delivery))
	return sum[:]
}

// HandlerContext is the trace context that the handler of an attempt gets, in the form of W3C: a
// span that it begins is below the span of the attempt. Without a run, when there is no
// telemetry, a request that brings a context hands it on, with a span of its own: the server
// of the platform's host has an activity for each request, whoever collects it.
func (r *Run) HandlerContext(ev *triggers.Event, attempt int) (traceParent, traceState string) {
	if r == nil && (len(ev.Messages) == 0 || ev.Messages[0].Value.HTTP == nil) {
		return "", ""
	}
	sender := senderOf(ev)
	if r == nil {
		if sender.Trace == (ID{}) {
			return "", ""
		}
		r = &Run{}
	}
	trace, _ := r.Delivery(ev.Delivery, sender)
	span := r.Attempt(ev.Delivery, attempt)
	flags := "01"
	if !r.Sampled(trace, sender) {
		flags = "00"
	}
	return "00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(span[:]) + "-" + flags, sender.State
}

// The fields of a received record.
const (
	parentField = "traceparent"
	stateField  = "tracestate"
	linksField  = "tracelinks" // of a batch of messages from several traces
)

// Fields are what the journal keeps of the senders' context.
func (r *Run) Fields(ev *triggers.Event) (fields []journal.Field) {
	if r == nil {
		return nil
	}
	fields = requestFields(ev)
	if sender := senderOf(ev); sender.Trace != (ID{}) {
		fields = append(fields, journal.Field{Key: parentField, Value: sender.String()})
		if sender.State != "" {
			fields = append(fields, journal.Field{Key: stateField, Value: sender.State})
		}
		return fields
	}
	var links []string
	for _, s := range sendersOf(ev) {
		if s.Trace != (ID{}) && len(links) < mostLinks {
			links = append(links, s.String())
		}
	}
	if len(links) > 0 {
		fields = append(fields, journal.Field{Key: linksField, Value: strings.Join(links, " ")})
	}
	return fields
}

// mostLinks is how many senders of a batch are kept.
const mostLinks = 32

// IsField reports whether a field of a received record is one of these.
func IsField(key string) bool { return key == parentField || key == stateField || key == linksField }

// Senders are the sender of a delivery, and the senders of a batch, by its received record.
func Senders(rec *journal.Record) (sender Parent, links []Parent) {
	for _, f := range rec.Fields {
		switch f.Key {
		case parentField:
			state := sender.State
			sender = Parse(f.Value)
			sender.State = state
		case stateField:
			sender.State = f.Value
		case linksField:
			for text := range strings.FieldsSeq(f.Value) {
				links = append(links, Parse(text))
			}
		}
	}
	return sender, links
}

// String is the value of a header traceparent.
func (p Parent) String() string {
	flags := "00"
	if p.Sampled {
		flags = "01"
	}
	return "00-" + hex.EncodeToString(p.Trace[:]) + "-" + hex.EncodeToString(p.Span[:]) + "-" + flags
}

// Parse reads the value of a header traceparent; what is none is the zero Parent. Later
// versions of the form are read as far as version 00 goes.
func Parse(text string) (p Parent) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 || len(parts[3]) != 2 || text != strings.ToLower(text) {
		return Parent{}
	}
	version, err0 := hex.DecodeString(parts[0])
	flags, err1 := hex.DecodeString(parts[3])
	if len(parts[1]) != 32 || len(parts[2]) != 16 || err0 != nil || err1 != nil || len(version) != 1 {
		return Parent{}
	}
	if _, err := hex.Decode(p.Trace[:], []byte(parts[1])); err != nil {
		return Parent{}
	}
	if _, err := hex.Decode(p.Span[:], []byte(parts[2])); err != nil {
		return Parent{}
	}
	if p.Trace == (ID{}) || p.Span == (SpanID{}) {
		return Parent{}
	}
	p.Sampled = flags[0]&1 != 0
	return p
}
