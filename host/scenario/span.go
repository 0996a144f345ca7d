package scenario

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/timespan"
	"github.com/redeliver/redeliver/schemas"
)

// A span is a length of virtual time, in a form of package timespan.
type span time.Duration

func (s *span) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	d, err := timespan.Parse(text)
	*s = span(d)
	return err
}

// A spanRange is a span that is expected: least to most, both included.
type spanRange struct {
	least, most time.Duration
	text        string
}

func (r *spanRange) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	return r.read(text)
}

func (r *spanRange) read(text string) error {
	r.text = text
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		high = low
	}
	var err error
	if r.least, err = timespan.Parse(low); err == nil {
		r.most, err = timespan.Parse(high)
	}
	if err == nil && r.most < r.least {
		err = errors.New("the range ends before it begins")
	}
	return err
}

// holds compares at the precision of the services' times: a millisecond.
func (r *spanRange) holds(d time.Duration) bool {
	d = d.Round(time.Millisecond)
	return r.least <= d && d <= r.most
}

// spanKeys are the keys with lengths of time, data the keys below which the values are
// not of the scenario's language.
var (
	spanKeys = map[string]bool{"advance": true, "delay": true, "timeToLive": true, "take": true, "after": true, "patience": true, "elapsed": true, "at": true, "waits": true}
	data     = map[string]bool{
		"body": true, "bodies": true, "documents": true, "events": true, "properties": true, "host": true, "settings": true, "trigger": true,
		"bindings": true, "retry": true, "redeliver": true, "outputs": true, "edit": true, "journal": true, "queues": true,
		"hidden": true, "serviceBus": true, "blobs": true, "eventHubs": true, "headers": true,
		"input": true, "data": true, "returns": true, "output": true, "customStatus": true,
	}
)

// spanFaults finds lengths of time, and whole numbers, that look right and are not.
func (l *language) spanFaults(doc *schemas.Document, path string, value any, faults []*schemas.Fault) []*schemas.Fault {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if !data[key] && !l.holds(key) && !(key == "entities" && path != "") {
				at := schemas.JoinPath(path, key)
				if n, ok := v.(json.Number); ok && key != "chance" && !whole(n) {
					faults = append(faults, doc.Fault(at, n.String(), "a whole number in digits", "the number has a point or an exponent"))
				}
				if spanKeys[key] {
					faults = rangeFaults(doc, at, v, faults)
				}
				faults = l.spanFaults(doc, at, v, faults)
			}
		}
	case []any:
		for i, v := range value {
			faults = l.spanFaults(doc, schemas.IndexPath(path, i), v, faults)
		}
	}
	return faults
}

func rangeFaults(doc *schemas.Document, path string, value any, faults []*schemas.Fault) []*schemas.Fault {
	switch value := value.(type) {
	case string:
		var r spanRange
		if err := r.read(value); err != nil {
			faults = append(faults, doc.Fault(path, schemas.Quote(value), "", err.Error()))
		}
	case []any:
		for i, v := range value {
			faults = rangeFaults(doc, schemas.IndexPath(path, i), v, faults)
		}
	}
	return faults
}
