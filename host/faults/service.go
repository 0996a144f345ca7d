package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
)

// A Service is what a service does, as the points of its faults have it
// ([services.FaultPoint.Op]).
type Service struct {
	// Name is the one that faults and their points have.
	Name string
	// Reads are the operations that a full disk lets through: they add nothing. Writes are
	// those that change what the service keeps, Others those of what keeps nothing on a disk
	// of its own.
	Reads, Writes, Others []string
	// Parts are the operations that are parts of others: a fault of each operation leaves
	// them out.
	Parts []string
	// Losable are the operations whose callers go on without what they bring.
	Losable []string
	// Answered is the operation that an endpoint answers with a status.
	Answered string
	// Within is the entity in which that one is, for faults of all that is in it; nil: it is
	// one itself.
	Within func(entity string) string
	// Failure is what an operation fails with; nil: bindings.ErrUnavailable.
	Failure error
	// Coded is the failure that the text of an error names, and nil for a text that is no
	// more than a text; nil: no text names one.
	Coded func(text string) error
}

func (s *Service) operations() []string {
	all := slices.Concat(s.Reads, s.Writes, s.Others)
	slices.Sort(all)
	return all
}

// Services are those whose operations can fail. Package all of host/ops lists them.
type Services []Service

// Names are the names of the services.
func (l Services) Names() (names []string) {
	for i := range l {
		names = append(names, l[i].Name)
	}
	return names
}

// Operations are the names of what a service does, sorted; of all services when it is "".
func (l Services) Operations(service string) (all []string) {
	for i := range l {
		if service == "" || service == l[i].Name {
			all = append(all, l[i].operations()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// losable are the operations of all services that can be lost, sorted.
func (l Services) losable() (all []string) {
	for i := range l {
		all = append(all, l[i].Losable...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// of is the service with a name, without anything when there is none.
func (l Services) of(name string) *Service {
	for i := range l {
		if l[i].Name == name {
			return &l[i]
		}
	}
	return &Service{}
}

// check finds what no operation could match.
func (l Services) check(f *Fault) error {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(op string) bool { return strings.EqualFold(op, f.Operation) })
	}
	switch answered := l.of(f.Service).Answered; {
	case f.Times < 0, f.For < 0, f.Latency < 0:
		return errors.New("a fault has no negative times, for or latency")
	case f.Service != "" && !slices.Contains(l.Names(), f.Service):
		return fmt.Errorf("there is no service %q: want one of %s%s", f.Service, strings.Join(l.Names(), ", "), orMeant(f.Service, l.Names()))
	case f.Entity != "" && f.Service == "":
		return errors.New("the fault names an entity and no service")
	case f.Service == "" && (f.Operation == "" || f.Operation == "*") && !f.DiskFull:
		return errors.New("the fault names no operation and no service")
	case f.Operation != "" && f.DiskFull:
		return errors.New("a full disk concerns each operation that writes: leave the operation out")
	case f.After && f.Lost:
		return errors.New("an operation that is lost has no effect: leave out one of after and lost")
	case f.Lost && !has(l.losable()):
		return fmt.Errorf("only an operation that its caller does not ask for an answer can be lost: %s", strings.Join(l.losable(), ", "))
	case f.Operation != "" && f.Operation != "*" && !has(l.Operations(f.Service)):
		return l.noOperation(f)
	case f.Status != 0 && (answered == "" || !strings.EqualFold(f.Operation, answered)):
		return errors.New("a status is the answer to the operation Deliver of Event Grid")
	}
	return nil
}

// noOperation refuses an operation that the service of the fault does not have.
func (l Services) noOperation(f *Fault) error {
	known := l.Operations(f.Service)
	text := fmt.Sprintf("no service has an operation %q", f.Operation)
	if f.Service != "" {
		text = fmt.Sprintf("%s has no operation %q", f.Service, f.Operation)
	}
	if near := schemas.Nearest(f.Operation, known); near != "" {
		return fmt.Errorf("%s; did you mean %q?", text, near)
	}
	for i := range l {
		if slices.ContainsFunc(l[i].operations(), func(op string) bool { return strings.EqualFold(op, f.Operation) }) {
			return fmt.Errorf("%s; %s has", text, l[i].Name)
		}
	}
	if f.Service == "" {
		return fmt.Errorf("%s: name the service to see those that it has", text)
	}
	return fmt.Errorf("%s: want one of %s", text, strings.Join(known, ", "))
}

// is reports whether the fault is for a point of the service.
func (s *Service) is(f *Fault, p services.FaultPoint) bool {
	switch {
	case f.After != p.After, f.Service != "" && f.Service != p.Service:
		return false
	case f.DiskFull:
		if !slices.Contains(s.Writes, p.Op) {
			return false
		}
	case f.Operation == "" || f.Operation == "*":
		if slices.Contains(s.Parts, p.Op) {
			return false
		}
	case !strings.EqualFold(f.Operation, p.Op):
		return false
	}
	return f.Entity == "" || strings.EqualFold(f.Entity, p.Entity) || s.Within != nil && strings.EqualFold(f.Entity, s.Within(p.Entity))
}

// err is what an operation of the service fails with; nil: it only takes its time.
func (s *Service) err(f *Fault) error {
	switch {
	case f.Lost:
		return services.ErrNoEffect
	case f.Status != 0:
		return services.Answered{Status: f.Status}
	case f.Error != "":
		if s.Coded != nil {
			if err := s.Coded(f.Error); err != nil {
				return err
			}
		}
		return fmt.Errorf("%s: %w", f.Error, bindings.ErrUnavailable)
	case f.DiskFull:
		return fmt.Errorf("no space left on the disk: %w", bindings.ErrUnavailable)
	case f.Latency > 0:
		return nil
	case f.Service == s.Name && s.Failure != nil:
		return s.Failure
	}
	return bindings.ErrUnavailable
}

// orMeant is the end of a refusal of a word that is none of some.
func orMeant(word string, words []string) string {
	if near := schemas.Meant(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
