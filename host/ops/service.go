package ops

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/faults"
)

const (
	// MostDue is how many things that are due are listed.
	MostDue = 200
	// MostOfBody is how much is shown of the body of a message alone, in bytes.
	MostOfBody = 1 << 20
)

// A Service is what operations know of an emulated service: its names, its errors, and what
// can be done to its messages. A new service is a package with a value of this type, and a
// [Row] in package all. Functions that are nil are what the service does not have; all run
// under the clock, unless they say otherwise; Outside and Refuse run anywhere.
type Service struct {
	Name  string // of a message's service: "queue", "eventhub"
	Path  string // first word of the paths of its operations, and of its list in the inventory: "queues"
	Noun  string // of an entity: "queue", "hub"
	Scene Scene  // in scenarios

	// Needs is the word with which operations say that they are about the embedded service;
	// Outside then says which setting of the app names another one in its place, which is
	// what ("an account"), in short "account".
	Needs   string
	Outside func(e *Env) (setting, what, short string)

	// Listings are its lists in the inventory, for people.
	Listings []Listing

	// Refuse is what a caller is told of an error of the service.
	Refuse func(err error) *Error

	List     func(ctx context.Context, e *Env) (any, error)                  // its list in the inventory; nil: the apps of the run have none
	Entities func(ctx context.Context, e *Env) ([]string, error)             // that a fault may name
	Names    func(e *Env) []string                                           // that it has beside its entities
	Bound    map[string]func(b *app.Binding) []string                        // that a binding gives it, by the type of that
	Within   func(entity string) string                                      // the entity in which that one is; nil: it is one
	Due      func(ctx context.Context, e *Env) (d []DueItem, m int, _ error) // what it does next: of an entity MostDue are enough, and how many more there are

	// Faults are the operations of the service that can be made to fail; without a name there
	// are none.
	Faults faults.Service

	// Each visits the messages of an entity, until visit returns false. visit must not keep
	// the body.
	Each func(ctx context.Context, e *Env, entity string, visit func(m *ShownMessage, body []byte) bool) error
	// Body is the body of a message; nil: as Each has it.
	Body func(ctx context.Context, e *Env, entity, id string) ([]byte, error)
	// Again sends a message once more.
	Again func(ctx context.Context, e *Env, entity, messageID string) (newID string, err error)
	// Release ends the wait of a message; Bury gives it up.
	Release, Bury Hand
	// Redrive gives dead messages of an entity, or the one with an identity, another chance.
	// It runs outside the clock, and ends early with ctx.
	Redrive func(ctx context.Context, e *Env, entity, id string) (Redriven, error)
}

// A Scene is how scenarios speak of a service.
type Scene struct {
	// Entity is the member of a step that names an entity, "serviceBus", and Kind what an
	// entity is called, "Service Bus entity"; empty: Noun.
	Entity, Kind string
	// Held is the member of an expectation that has what entities hold, by their names; empty:
	// there is none of this form.
	Held string
	// Documents says that messages are documents: they stay by nature, and an expectation
	// compares the members that it has.
	Documents bool
	// Spelled is a name as the service writes it; nil: as it is.
	Spelled func(name string) string
}

// A Hand does something to a message, and says where that is then.
type Hand func(ctx context.Context, e *Env, m MessageMoved) (MessageMoved, error)

// service is the first one of which is holds; nil: there is none.
func (e *Env) service(is func(*Service) bool) *Service {
	if i := slices.IndexFunc(e.Services, is); i >= 0 {
		return e.Services[i]
	}
	return nil
}

// Keeper is the service of messages with a name, if its data is in this host.
func (e *Env) Keeper(name string) (*Service, error) {
	var names []string
	for _, s := range e.Services {
		if s.Each == nil {
			continue
		}
		if s.Name == name {
			return s, e.Elsewhere(s.Needs)
		}
		names = append(names, s.Name)
	}
	last := len(names) - 1
	return nil, Refuse(http.StatusBadRequest, fmt.Sprintf("service %q: want %s or %s", name, strings.Join(names[:last], ", "), names[last]), "")
}

// Elsewhere refuses an operation of an embedded service where the app uses another one:
// its data there would never be found.
func (e *Env) Elsewhere(needs string) error {
	s := e.service(func(s *Service) bool { return needs != "" && s.Needs == needs })
	if s == nil {
		return nil
	}
	setting, what, short := s.Outside(e)
	if setting == "" {
		return nil
	}
	return Refuse(http.StatusConflict, setting+" is "+what+" outside this host",
		fmt.Sprintf("this command is for the embedded %s; use a client of that %[1]s, or the command of the host that serves it", short))
}
