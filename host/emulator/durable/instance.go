package durable

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// state is what a store holds of an engine.
type state struct {
	hubs  map[string]*hub // by name in lower case
	ids   seeded.Series
	order uint64 // of the last thing that was put anywhere
}

func newState() *state { return &state{hubs: map[string]*hub{}} }

// next is the place of the next thing that is put: what became ready first goes first.
func (st *state) next() uint64 {
	st.order++
	return st.order
}

// hub is one task hub.
type hub struct {
	key, name  string
	instances  map[string]*instance
	sorted     ordered.Set[*instance] // by id
	activities map[activityID]*activity
}

func newHub(name string) *hub {
	return &hub{
		key: strings.ToLower(name), name: name, instances: map[string]*instance{}, activities: map[activityID]*activity{},
		sorted: ordered.New(func(a, b *instance) int { return strings.Compare(a.ID, b.ID) }),
	}
}

// instance is one instance of an orchestrator, or an entity.
type instance struct {
	hub *hub
	record
	entity bool

	history []durable.Event  // of the present execution
	places  map[int]int      // of numbers in the history
	played  []byte           // history of earlier turns, encoded; nil: to be made
	encoded int              // events in played
	speaks  durable.Protocol // of played
	inbox   []*message       // in order
	alarms  []*alarm         // in order of being set

	// What the engine knows while it runs.
	turn   *turn
	aborts int       // turns in a row that were aborted
	paused time.Time // until then no turn is made
	ready  uint64    // its place among what is ready; 0: it is not
	place  int       // in the heap
	reply  string    // of the last turn, and what was read in it
	state  *plan.State
	waits  []durable.Open
	known  bool // waits is of this state
}

// record is what is kept of an instance beside history, inbox and timers.
type record struct {
	ID, Name, Version, Execution string
	Status                       durable.Status
	Input, Output, Custom        *string           `json:",omitempty"`
	Failure                      *durable.Failure  `json:",omitempty"`
	Created, Updated             time.Time         `json:",omitzero"`
	Parent                       *durable.Parent   `json:",omitempty"`
	Generation                   int               `json:",omitempty"`
	Starts                       int               `json:",omitempty"` // by clients, under this id
	Turns, All                   int               `json:",omitempty"` // of the execution, of all executions
	Continued                    bool              `json:",omitempty"` // the execution is not the first
	Findings                     []durable.Finding `json:",omitempty"`
	Awaits                       []durable.Open    `json:",omitempty"` // of waits, what has no end in the history: events and answers
	Exists                       bool              `json:",omitempty"` // of an entity
	Content                      *string           `json:",omitempty"` // of an entity: its state, JSON text
	Tags                         map[string]string `json:",omitempty"`

	StartedBy string `json:",omitempty"` // the entity that has started it

	// LockedBy is the instance that has locked an entity, by the request Lock.
	LockedBy string `json:",omitempty"`
	Lock     string `json:",omitempty"`
}

func (inst *instance) function() durable.Function {
	kind := durable.Orchestrator
	if inst.entity {
		kind = durable.EntityFunction
	}
	return durable.Function{Kind: kind, Name: strings.ToLower(inst.Name)}
}

// get finds an instance.
func (e *Engine) get(hubKey, id string) *instance {
	if h := e.st.hubs[hubKey]; h != nil {
		return h.instances[id]
	}
	return nil
}

// hubOf returns a hub to put something into.
func (e *Engine) hubOf(name string) *hub {
	key := strings.ToLower(name)
	h := e.st.hubs[key]
	if h == nil {
		h = newHub(name)
		e.st.hubs[key] = h
	}
	return h
}

// insert puts an instance into its hub.
func (h *hub) insert(inst *instance) {
	inst.hub = h
	h.instances[inst.ID] = inst
	h.sorted.Insert(inst)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
