package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/timespan"
	"github.com/redeliver/redeliver/schemas"
)

// A deed is a step that is an operation: the tags of that say which members the step has.
type deed struct {
	stepOf
	given map[string]json.RawMessage
}

// deeds reads the steps that are operations. A step of a key that also has a form of its own,
// as send, is an operation if it names an entity of one.
func (s *Scenario) deeds(at string, st *step, raw map[string]json.RawMessage) (faults []*schemas.Fault) {
	for key, text := range raw {
		list := s.language.steps[key]
		if len(list) == 0 {
			continue
		}
		at := schemas.JoinPath(at, key)
		d := &deed{}
		if err := json.Unmarshal(text, &d.given); err != nil {
			return []*schemas.Fault{s.doc.Fault(at, "", "", err.Error())}
		}
		maps.DeleteFunc(d.given, func(_ string, value json.RawMessage) bool { return string(value) == `""` }) // as if it were left out
		var places, named []string
		for _, one := range list {
			place, _ := one.Place()
			places = append(places, place.Name)
			if _, ok := d.given[place.Name]; ok {
				named, d.stepOf = append(named, place.Name), one
			}
		}
		slices.Sort(places)
		slices.Sort(named)
		switch {
		case len(named) == 1:
			st.Deed = d
			faults = append(faults, s.checkDeed(at, d)...)
		case !hasForm(key):
			faults = append(faults, s.doc.Fault(at, strings.Join(named, ", "), "one of "+strings.Join(places, ", "), fmt.Sprintf("the step names %d places", len(named))))
		}
	}
	return faults
}

// hasForm reports whether steps of a key have a form that is no operation.
func hasForm(key string) bool {
	for f := range reflect.TypeFor[step]().Fields() {
		if f.Tag.Get("json") == key {
			return true
		}
	}
	return false
}

// checkDeed finds members of another operation with the same key, and values that are none.
func (s *Scenario) checkDeed(at string, d *deed) (faults []*schemas.Fault) {
	for _, name := range slices.Sorted(maps.Keys(d.given)) {
		if d.has(name) {
			continue
		}
		var of []string
		for _, other := range s.language.steps[d.Step] {
			if place, _ := other.Place(); other.has(name) {
				of = append(of, place.Name)
			}
		}
		place, _ := d.Place()
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, name), schemas.Quote(textOf(d.given[name])), "only of "+strings.Join(of, ", "), place.Name+" has no "+name))
	}
	if err := d.read(reflect.New(d.In).Interface()); err != nil {
		faults = append(faults, s.doc.Fault(at, "", "", err.Error()))
	}
	return faults
}

func (s stepOf) has(member string) bool {
	return slices.ContainsFunc(s.Members(), func(m ops.Member) bool { return m.Name == member })
}

// read gives the operation the members of the step.
func (d *deed) read(in any) error {
	for _, m := range d.Members() {
		raw, ok := d.given[m.Name]
		if !ok {
			continue
		}
		into := reflect.ValueOf(in).Elem().FieldByIndex(m.Field.Index)
		switch {
		case m.Entity:
			into.SetString(spelled(d.service, textOf(raw)))
		case into.Type() == reflect.TypeFor[[]byte]():
			into.SetBytes([]byte(textOf(raw)))
		case into.Type() == reflect.TypeFor[time.Duration]():
			length, err := timespan.Parse(textOf(raw))
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			into.SetInt(int64(length))
		default:
			if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	return nil
}

// deed carries out a step that is an operation. It fails when that has changed nothing.
func (r *run) deed(d *deed) {
	h := r.h
	for _, m := range d.Members() {
		raw, ok := d.given[m.Name]
		if !ok || !m.Entity {
			continue
		}
		name := spelled(d.service, textOf(raw))
		r.mustKnow(d.Step+"."+m.Name, kindOf(d.service), name)
		if m.Place {
			h = r.cast.receiver(d.service, name)
		}
	}
	answer, err := hosttest.Perform(h, d.Deed, d.read)
	change, counts := answer.(ops.Change)
	at := schemas.JoinPath(r.at, d.Step)
	switch {
	case err != nil:
		r.mismatch(at, err.Error(), "", "", r.all)
	case counts && change.Changed() == 0:
		r.mismatch(at, "there is nothing to "+verb(d.Step)+" there", "", "", r.all)
	default:
		return
	}
	runtime.Goexit()
}

// verb is a key as a word: deadLetter is to dead-letter.
func verb(key string) string {
	if key == "deadLetter" {
		return "dead-letter"
	}
	return key
}

// receiver is the host of the app that receives from an entity of a service, for a queue also
// from the one whose poison queue it is; the first one when none does.
func (c cast) receiver(s *ops.Service, entity string) *hosttest.Host {
	receives := func(f *app.Function) bool {
		if f.Trigger == nil {
			return false
		}
		for kind, of := range s.Bound {
			if f.Trigger.Is(kind) && (names{kindOf(s): of(f.Trigger)}).have(kindOf(s), entity) {
				return true
			}
		}
		return false
	}
	for _, p := range c {
		if a := p.app(); a != nil && slices.ContainsFunc(a.Functions, receives) {
			return p.h
		}
	}
	return c[0].h
}
