package servicebus

import (
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// topology is the queues, topics and subscriptions of a namespace, and who forwards to
// whom.
type topology struct {
	entities map[string]*entity // by key of their path
	feeders  map[string][]*entity
}

func newTopology() topology {
	return topology{map[string]*entity{}, map[string][]*entity{}}
}

// sorted returns all entities by key, topics before their subscriptions.
func (t *topology) sorted() []*entity {
	list := make([]*entity, 0, len(t.entities))
	for _, key := range slices.Sorted(maps.Keys(t.entities)) {
		list = append(list, t.entities[key])
	}
	return list
}

// at returns the queue, topic or subscription of that path.
func (t *topology) at(p servicebus.Path) (*entity, error) {
	if e := t.entities[p.Main().Key()]; e != nil {
		return e, nil
	}
	return nil, messaging.NewEntityNotFound(p.Main().String())
}

// install puts an entity in its place, at creation and when the namespace is
// read.
func (t *topology) install(e *entity) {
	e.settle()
	if e.topic == nil && e.dead == nil {
		e.addSubQueues()
	}
	t.entities[e.key] = e
	if p := e.parent; p != nil {
		i, _ := slices.BinarySearchFunc(p.subscriptions, e.key, func(s *entity, key string) int { return strings.Compare(s.key, key) })
		p.subscriptions = slices.Insert(p.subscriptions, i, e)
	}
	t.feed(e)
}

// remove is the reverse.
func (t *topology) remove(e *entity) {
	if p := e.parent; p != nil {
		p.subscriptions = slices.DeleteFunc(p.subscriptions, func(s *entity) bool { return s == e })
	}
	delete(t.entities, e.key)
	t.feed(e)
}

// feed keeps who forwards to whom. It is called when that may have changed, and
// after an entity has gone.
func (t *topology) feed(e *entity) {
	for key, list := range t.feeders {
		if i := slices.Index(list, e); i >= 0 {
			t.feeders[key] = slices.Delete(list, i, i+1)
			if len(list) == 1 {
				delete(t.feeders, key)
			}
		}
	}
	if e.forwardTo != "" && t.entities[e.key] == e {
		t.feeders[lower(e.forwardTo)] = append(t.feeders[lower(e.forwardTo)], e)
	}
}
