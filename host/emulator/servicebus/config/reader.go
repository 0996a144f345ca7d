package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/schemas"
)

// reader collects what is wrong with a document.
type reader struct {
	doc      *schemas.Document
	faults   []*schemas.Fault
	warnings []*schemas.Fault
}

// fault notes that the value at path is not as it should be.
func (r *reader) fault(path, allowed, reason string) *schemas.Fault {
	f := r.doc.Fault(path, r.doc.Found(path), allowed, reason)
	r.faults = append(r.faults, f)
	return f
}

// section is one object of the document.
type section struct {
	*reader
	path string
	m    map[string]any
}

// section takes the value at path for an object. Keys that are not known get a
// warning; no known ones means any. It returns nil when there is no object, which
// reads like an empty one.
func (r *reader) section(path string, value any, known ...string) *section {
	m, ok := value.(map[string]any)
	if !ok {
		r.fault(path, "an object", "not an object")
		return nil
	}
	s := &section{r, path, m}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if len(known) > 0 && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) {
			at := schemas.JoinPath(path, key)
			w := r.doc.Fault(at, schemas.Quote(key), strings.Join(known, ", "), "unknown key, which is ignored")
			w.Hint = "check the spelling, or leave it out"
			r.warnings = append(r.warnings, w)
		}
	}
	return s
}

// get returns the value of a key and its path; ok is false when there is none. Of
// keys that differ by case, the exact one counts, else the last.
func (s *section) get(key string) (path string, value any, ok bool) {
	if s == nil {
		return "", nil, false
	}
	name := key
	if _, exact := s.m[key]; !exact {
		for _, k := range slices.Sorted(maps.Keys(s.m)) {
			if strings.EqualFold(k, key) {
				name = k
			}
		}
	}
	value = s.m[name]
	return schemas.JoinPath(s.path, name), value, value != nil
}

// need reports a key that is missing.
func (s *section) need(key, allowed string) {
	if s != nil {
		f := s.fault(schemas.JoinPath(s.path, key), allowed, "is required")
		f.Found = ""
	}
}

// within returns the object under a key; nil when there is none.
func (s *section) within(key string, known ...string) *section {
	path, v, ok := s.get(key)
	if !ok {
		return nil
	}
	return s.section(path, v, known...)
}

// items calls f with each item of the list under a key.
func (s *section) items(key string, f func(path string, value any)) {
	path, v, ok := s.get(key)
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		s.fault(path, "a list", "not a list")
		return
	}
	for i, item := range list {
		f(schemas.IndexPath(path, i), item)
	}
}

// text returns the text under a key; ok is false when there is no text.
func (s *section) text(key string) (text string, ok bool) {
	path, v, ok := s.get(key)
	if !ok {
		return "", false
	}
	if text, ok = v.(string); !ok {
		s.fault(path, "text", "not a text")
	}
	return text, ok
}

func (s *section) optionalText(key string) *string {
	if text, ok := s.text(key); ok {
		return &text
	}
	return nil
}

func (s *section) optionalFlag(key string) *bool {
	path, v, ok := s.get(key)
	if !ok {
		return nil
	}
	b, ok := v.(bool)
	if !ok {
		s.fault(path, "true or false", "not a boolean")
		return nil
	}
	return &b
}

func (s *section) flag(key string) bool {
	v := s.optionalFlag(key)
	return v != nil && *v
}

// number returns the whole number under a key, 0 when there is none.
func (s *section) number(key string, most int) int {
	path, v, ok := s.get(key)
	if !ok {
		return 0
	}
	allowed := fmt.Sprintf("a whole number from 1 to %d", most)
	if most == math.MaxInt32 {
		allowed = "a whole number of 1 or more"
	}
	literal, ok := v.(json.Number)
	if !ok {
		s.fault(path, allowed, "not a number")
		return 0
	}
	n, err := literal.Int64()
	if err != nil || n < 1 || n > int64(most) {
		s.fault(path, allowed, "out of range")
		return 0
	}
	return int(n)
}

// span returns the duration under a key, 0 when there is none.
func (s *section) span(key string, least, most time.Duration) time.Duration {
	path, v, ok := s.get(key)
	if !ok {
		return 0
	}
	allowed := fmt.Sprintf("an ISO 8601 duration from %s to %s", duration.Format(least), duration.Format(most))
	if most == duration.Unbounded {
		allowed = fmt.Sprintf("an ISO 8601 duration of %s or more", duration.Format(least))
	}
	text, ok := v.(string)
	if !ok {
		s.fault(path, allowed, "not a duration")
		return 0
	}
	d, err := duration.Parse(text)
	switch {
	case err != nil:
		s.fault(path, allowed, "cannot be read as a duration")
	case d < least || d > most:
		s.fault(path, allowed, "out of range")
	default:
		return d
	}
	return 0
}

// lifetime is a duration whose maximum means that there is no end.
func (s *section) lifetime(key string, least time.Duration) time.Duration {
	d := s.span(key, least, duration.Unbounded)
	if d == duration.Unbounded {
		return 0
	}
	return d
}
