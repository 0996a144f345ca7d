package journal

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/retrycontext"
)

// Record is one fact. It is a plain value; fields that do not apply to its
// kind are zero and are not printed.
type Record struct {
	Seq  uint64    // from 1, without gaps; set by Append
	Time time.Time // the clock's time; set by Append
	Kind Kind

	App           string // the app, where a run has several and the fact is of one; set by Append (see [Journal.For])
	Generation    int    // of the app, from 1; 0 when none is concerned
	Function      string // the function's name; of one of several apps "app/function"
	Trigger       string // its trigger's type, e.g. "queueTrigger"
	Source        string // queue name, schedule, method and path, ...
	Service       string // of facts that a service makes by itself: whose
	Delivery      string
	Invocation    string
	MessageID     string
	MessageNumber int64 // at the entity, from 1: tells messages of one MessageID apart; 0 where the service does not count
	DeliveryCount int64 // from 1; 0 where the source does not count

	Attempt       int  // from 1; 0 in records that concern no attempt
	HasPolicy     bool // MaxRetryCount means something; not printed by itself
	MaxRetryCount int  // -1: for ever

	Delay    time.Duration // of retry_scheduled and of timed waits
	HasDelay bool          // Delay is printed even when it is zero
	Status   string        // of attempt_ended: "succeeded", "failed", "timed_out"; of state changes
	Decision string        // of settled
	Target   string        // where a message went: "orders-poison"
	Cause    string        // why retries ended: "maxRetryCount", "permanent"; "declared" for the wait of a retry; who moved the clock
	Error    string        // failure text, one line or several
	Level    string        // of handler_log
	Message  string        // of handler_log, or a fixed phrase
	Name     string        // a process, a service, a file
	Fields   []Field       // further attributes, in order

	// Beside travels with the record and is not part of its line: facts that differ
	// between two runs of the same input.
	Beside Beside
}

// Field is one further attribute of a record.
type Field struct{ Key, Value string }

// Beside holds facts that stand beside a record, since they may differ between two runs with
// the same seed and input.
type Beside struct {
	Elapsed time.Duration // real time: of an attempt, of a start
	PID     int
	Stack   string
	Detail  string
	Batch   string // of received: the identities of a batch's messages, as an array in JSON
	Members string // of those messages, as an array in JSON: of received the numbers, of settled the decisions where they differ
	Counts  string // of received: the delivery counts of those messages, as an array in JSON, where they differ
	Body    string // of received, where bodies are kept: what the function is given, as text; of a batch an array of texts in JSON
	Span    string // of attempt_ended: what the worker adds to the attempt's span, as an object in JSON
}

// RetryCount is the number of retries before this attempt: Attempt - 1.
func (r *Record) RetryCount() int { return max(r.Attempt-1, 0) }

// OwnFunction is the function's name within its app.
func (r *Record) OwnFunction() string { return r.Function[strings.LastIndexByte(r.Function, '/')+1:] }

// timeLayout prints every instant with the same width, so that lines sort and
// compare as text.
const timeLayout = "2006-01-02T15:04:05.0000000Z07:00"

// AppendLine appends the record as one line of JSON, without the line feed.
// The line holds the fields in a fixed order and is the same for the same
// record on every machine.
func (r *Record) AppendLine(b []byte) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = append(b, `,"time":"`...)
	b = r.Time.UTC().AppendFormat(b, timeLayout)
	b = append(b, `","kind":"`...)
	b = append(b, r.Kind...)
	b = append(b, '"')
	b = appendText(b, "app", r.App)
	b = appendInt(b, "generation", int64(r.Generation))
	b = appendText(b, "function", r.Function)
	b = appendText(b, "trigger", r.Trigger)
	b = appendText(b, "source", r.Source)
	b = appendText(b, "service", r.Service)
	b = appendText(b, "delivery", r.Delivery)
	b = appendText(b, "invocation", r.Invocation)
	b = appendText(b, "message_id", r.MessageID)
	b = appendInt(b, "message_number", r.MessageNumber)
	b = appendInt(b, "delivery_count", r.DeliveryCount)
	if r.Attempt > 0 {
		b = appendInt(b, "attempt", int64(r.Attempt))
		b = append(b, `,"retry_count":`...)
		b = strconv.AppendInt(b, int64(r.RetryCount()), 10)
	}
	if r.HasPolicy {
		b = append(b, `,"max_retry_count":`...)
		b = strconv.AppendInt(b, int64(r.MaxRetryCount), 10)
	}
	if r.HasDelay || r.Delay != 0 {
		b = appendText(b, "delay", retrycontext.FormatTimeSpan(r.Delay))
	}
	b = appendText(b, "status", r.Status)
	b = appendText(b, "decision", r.Decision)
	b = appendText(b, "target", r.Target)
	b = appendText(b, "cause", r.Cause)
	b = appendText(b, "error", r.Error)
	b = appendText(b, "level", r.Level)
	b = appendText(b, "message", r.Message)
	b = appendText(b, "name", r.Name)
	if len(r.Fields) > 0 {
		b = append(b, `,"fields":{`...)
		for i, f := range r.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendQuoted(b, f.Key)
			b = append(b, ':')
			b = AppendQuoted(b, f.Value)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// AppendLineWithPID is AppendLine, with the process ID of a record that has one as its
// last member: a line that differs between two runs.
func (r *Record) AppendLineWithPID(b []byte) []byte {
	b = r.AppendLine(b)
	if r.Beside.PID == 0 {
		return b
	}
	return append(appendInt(b[:len(b)-1], "pid", int64(r.Beside.PID)), '}')
}

// String is the record's line.
func (r Record) String() string { return string(r.AppendLine(nil)) }

// MarshalJSON is the record's line.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendLine(nil), nil }

func appendInt(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return strconv.AppendInt(b, n, 10)
}

func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return AppendQuoted(b, s)
}

// AppendQuoted appends s as a JSON string. Plain ASCII, which nearly every
// value is, takes the short way.
func AppendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			q, err := json.Marshal(s)
			if err != nil { // a string always marshals
				panic(err)
			}
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
