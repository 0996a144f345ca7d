package ops

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// Meant says in a refusal of a name that is nowhere which one was meant, if there is one
// that is near to it. Of names the first one counts that is near to one. Call it outside the
// clock.
func (e *Env) Meant(s *Service, names []string, refused *Error) *Error {
	if refused.Status != http.StatusNotFound || s == nil {
		return refused
	}
	var known []string
	_ = e.Inside("names", func(ctx context.Context) error {
		known = e.known(ctx, s)
		return nil
	})
	for _, name := range names {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			break // what is nowhere lies in it
		}
		if one := near(name, known); one != "" {
			return Refuse(refused.Status, refused.Text, fmt.Sprintf("did you mean %q?", one))
		}
	}
	return refused
}

// known are the names that a service has or that a binding of the app gives it.
func (e *Env) known(ctx context.Context, s *Service) (names []string) {
	if s.Names != nil {
		names = s.Names(e)
	}
	if s.Entities != nil {
		there, _ := s.Entities(ctx, e) // no names, no hint
		bound, _ := e.bound(s)
		names = slices.Concat(names, there, bound)
	}
	return names
}

// NamesOf are the names that a request for the operation gives: all together, as a path,
// each by itself, and what they are below.
func (op Route) NamesOf(r *http.Request) []string {
	return op.names(func(p Param) string {
		if p.In == "path" {
			return r.PathValue(p.Name)
		}
		return r.URL.Query().Get(p.Name)
	})
}

// NamesIn are the names that the operation itself gives, as NamesOf has them.
func (op Route) NamesIn(in any) []string {
	v := reflect.ValueOf(in)
	return op.names(func(p Param) string { return v.FieldByIndex(p.Field.Index).String() })
}

func (op Route) names(valueOf func(Param) string) []string {
	var parts, parents []string
	for _, p := range op.Params() {
		value := ""
		if p.In == "path" || p.In == "query" && op.Service() != "containers" && slices.Contains([]string{"name", "container", "topic", "hub", "group", "path"}, p.Name) {
			value = valueOf(p)
		}
		value, _, _ = strings.Cut(value, "/$") // a subqueue
		if value != "" {
			parts = append(parts, value)
		}
		if of, _, below := strings.Cut(value, "/"); below {
			parents = append(parents, of)
		}
	}
	return slices.Concat([]string{strings.Join(parts, "/")}, parts, parents)
}

// near is the known name that another one is meant to be; empty: it is known, or near to
// none. Parts of a name are compared each by itself, and the word between a topic and its
// subscription may be left out.
func near(name string, known []string) string {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" || strings.HasSuffix(k, "/") || strings.Contains(k, "{") })
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return ""
	}
	if near := schemas.Nearest(name, known); near != "" {
		return near
	}
	partsOf := func(name string) []string {
		return slices.DeleteFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, "Subscriptions") })
	}
	parts := partsOf(name)
	for _, k := range known {
		of := partsOf(k)
		similar := len(parts) > 1 && len(of) == len(parts)
		for i := 0; similar && i < len(parts); i++ {
			similar = strings.EqualFold(parts[i], of[i]) || schemas.Meant(parts[i], of[i:i+1]) != ""
		}
		if similar {
			return k
		}
	}
	return ""
}

// RefuseSlip refuses to make something whose name is most likely a slip: it is near to a
// name that is there or that the app has. Names that differ in a number, or in their last
// letter, are not.
func (e *Env) RefuseSlip(ctx context.Context, s *Service, name string) error {
	near := near(name, e.known(ctx, s))
	if near == "" || schemas.Numbered(name, near) {
		return nil
	}
	return Refuse(http.StatusConflict, fmt.Sprintf("there is no %s %q; did you mean %q?", s.Noun, name, near), "--create (create=true) makes it")
}

// CheckEntity refuses a fault for an entity that is not there and that no function of the
// app names: nothing would ever meet it.
func (e *Env) CheckEntity(ctx context.Context, service, entity, operation string) error {
	s := e.service(func(s *Service) bool { return s.Entities != nil && s.Faults.Name == service })
	if entity == "" || s == nil || strings.HasPrefix(strings.ToLower(operation), "create") {
		return nil
	}
	known, some := e.bound(s)
	there, err := s.Entities(ctx, e)
	if some || err != nil {
		return nil // it may be made; and faults may be for the look itself
	}
	if s.Within != nil {
		entity = s.Within(entity)
	}
	return e.among(s.Noun, entity, append(known, there...))
}

// among refuses a name that is none of those.
func (e *Env) among(noun, name string, known []string) error {
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return nil
	}
	return e.NoSuch(noun, name, known)
}

// NoSuch refuses a name that is nowhere, with the one meant, if one of those known is.
func (e *Env) NoSuch(noun, name string, known []string) error {
	hint := `"redeliver ls" lists what there is`
	if near := schemas.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	text := fmt.Sprintf("there is no %s %q", noun, name)
	if noun == "function" {
		text = fmt.Sprintf("the app has no function %q", name)
	}
	return Refuse(http.StatusNotFound, text, hint)
}

// bound are the entities of a service that bindings of the apps name. some is set when a
// binding takes its name from a message.
func (e *Env) bound(s *Service) (names []string, some bool) {
	for _, h := range e.Apps() {
		a := h.App()
		if a == nil {
			continue
		}
		for _, f := range a.Functions {
			for _, b := range f.Bindings {
				for kind, of := range s.Bound {
					if !b.Is(kind) {
						continue
					}
					for _, name := range of(b) {
						some = some || strings.Contains(name, "{")
						names = append(names, name)
					}
				}
			}
		}
	}
	return names, some
}
