package recorded

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/journal"
)

// Bounds of what is kept of recorded outputs.
const (
	maxRecorded      = 1_000     // outputs, the oldest are forgotten first
	maxRecordedBytes = 16 << 20  // of their values together
	maxRecordedValue = 256 << 10 // of one value
	maxJournalValue  = 4 << 10   // of one value in the journal
)

// RecordedOutput is one value that a function set on an output which this host does not
// serve, and that went nowhere.
type RecordedOutput struct {
	Time       time.Time `json:"time"`
	Function   string    `json:"function"`
	Binding    string    `json:"binding"`
	Type       string    `json:"type"` // of the binding, as written: "sendGrid"
	Delivery   string    `json:"delivery"`
	Invocation string    `json:"invocation"`
	Attempt    int       `json:"attempt"`
	MessageID  string    `json:"messageId,omitempty"` // of the trigger

	// Body is the value as text: JSON, or what the handler set as text. Binary holds a
	// value of bytes; Body is nil then. Size is the length in bytes of the whole value, of
	// which the first 256 KiB are kept; with [Book.Whole] all of it is.
	Body   *string `json:"body,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
	Size   int     `json:"size"`
}

// recorded holds what functions set on outputs that are not served: the latest 1,000
// values, or 16 MiB of them. Its methods may be called concurrently.
type recorded struct {
	mu    sync.Mutex
	list  []RecordedOutput
	bytes int
}

func (r *recorded) add(o RecordedOutput, all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, o)
	r.bytes += o.kept()
	for !all && (len(r.list) > maxRecorded || r.bytes > maxRecordedBytes) {
		r.bytes -= r.list[0].kept()
		r.list[0] = RecordedOutput{}
		r.list = r.list[1:]
	}
}

func (o *RecordedOutput) kept() int {
	if o.Body != nil {
		return len(*o.Body)
	}
	return len(o.Binary)
}

func (r *recorded) all() []RecordedOutput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

func (r *recorded) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.bytes = nil, 0
}

// Record keeps a value that a function set at a time, and returns the journal's record of
// it: rec says by whom, in its Name and Target the binding and its type.
func (b *Book) Record(at time.Time, rec journal.Record, v bindings.Value) (journal.Record, error) {
	value, text, err := recordedValue(v)
	if err != nil {
		return rec, err
	}
	out := RecordedOutput{
		Time: at, Function: rec.Function, Binding: rec.Name, Type: rec.Target,
		Delivery: rec.Delivery, Invocation: rec.Invocation, Attempt: rec.Attempt, MessageID: rec.MessageID,
		Size: len(value),
	}
	rec.Kind, rec.Fields = journal.OutputRecorded, []journal.Field{{Key: "bytes", Value: strconv.Itoa(len(value))}}
	kept := value
	if !b.Whole {
		kept = value[:min(len(value), maxRecordedValue)]
	}
	if text {
		body := strings.ToValidUTF8(string(kept), "\uFFFD")
		out.Body = &body
		// Of its own: the journal counts the memory of what it is given.
		shown := strings.Clone(strings.ToValidUTF8(body[:min(len(body), maxJournalValue)], ""))
		rec.Fields = append(rec.Fields, journal.Field{Key: "value", Value: shown})
	} else {
		out.Binary = slices.Clone(kept)
	}
	b.recorded.add(out, b.Whole)
	return rec, nil
}

// recordedValue is a value as it is recorded: JSON or text, else bytes.
func recordedValue(v bindings.Value) (value []byte, text bool, err error) {
	switch v.Kind {
	case bindings.Bytes:
		return v.Data, false, nil
	case bindings.String, bindings.JSON:
		return []byte(v.Text), true, nil
	case bindings.Int:
		return strconv.AppendInt(nil, v.Int, 10), true, nil
	case bindings.Double:
		return strconv.AppendFloat(nil, v.Double, 'g', -1, 64), true, nil
	case bindings.Strings, bindings.BytesList:
		list := []any{}
		for _, e := range v.List {
			if e.Kind == bindings.Bytes {
				list = append(list, e.Data)
			} else {
				list = append(list, e.Text)
			}
		}
		value, err = json.Marshal(list)
		return value, true, err
	}
	return nil, false, errors.New("an HTTP request or response is not a value for this output")
}
