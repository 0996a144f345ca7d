package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// A span is a length of virtual time. It is written as in Go with days (1d12h, 10s), or
// as the platform's time spans (00:15:00, 1.00:00:00).
type span time.Duration

func (s *span) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	d, err := parseSpan(text)
	*s = span(d)
	return err
}

var days = regexp.MustCompile(`^(\d+)d`)

func parseSpan(text string) (time.Duration, error) {
	if strings.Contains(text, ":") {
		return retrycontext.ParseTimeSpan(text)
	}
	var whole time.Duration
	rest := text
	if m := days.FindStringSubmatch(text); m != nil {
		d, err := time.ParseDuration(m[1] + "h")
		if err != nil {
			return 0, fmt.Errorf("span %q: %w", text, err)
		}
		whole, rest = 24*d, strings.TrimPrefix(text, m[0])
		if rest == "" {
			return whole, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, errors.New("this is no length of time")
	}
	return whole + d, nil
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
	if r.least, err = parseSpan(low); err == nil {
		r.most, err = parseSpan(high)
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
	}
)

// spanFaults finds lengths of time, and whole numbers, that look right and are not.
func (l *language) spanFaults(doc *schemas.Document, path string, value any, faults []*schemas.Fault) []*schemas.Fault {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if !data[key] && !l.holds(key) {
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

// ParseSpan reads a length of virtual time as scenarios write it: "1d12h", "10s", "00:15:00".
func ParseSpan(text string) (time.Duration, error) { return parseSpan(text) }
