package eventgrid

import (
	"maps"
	"slices"
	"time"
)

const (
	// ProbationFailures is the number of failed requests in a row after which an
	// endpoint is spared.
	ProbationFailures = 10

	// longestProbation is the limit of the doubling.
	longestProbation = 4 * time.Hour
)

// endpoint is an Endpoint and its health, shared by the subscriptions that name
// it. The Grid's mutex guards it, except for the Endpoint itself.
type endpoint struct {
	Endpoint
	key      string
	failures int           // in a row
	until    time.Time     // it is spared until then; zero: it is not
	length   time.Duration // of the probation
	parked   []*delivery   // that wait for its end
	saved    bool          // the store has a record of its health
}

// endpoints are the endpoints that subscriptions name.
type endpoints struct {
	byKey map[string]*endpoint
	reach func(*subscription) Endpoint
}

// of returns the endpoint of a subscription.
func (all *endpoints) of(s *subscription) *endpoint {
	key := "function " + fold(s.Function)
	if s.Endpoint != "" {
		key = "web hook " + s.Endpoint
	}
	e := all.byKey[key]
	if e == nil {
		e = &endpoint{key: key, Endpoint: all.reach(s)}
		all.byKey[key] = e
	}
	return e
}

// endpointOf makes the way to the endpoint of a subscription.
func (g *Grid) endpointOf(s *subscription) Endpoint {
	var e Endpoint
	if s.Endpoint != "" {
		e = g.opts.WebHook(s.Endpoint)
	} else if g.opts.Function != nil {
		e = g.opts.Function(s.Function)
	}
	if e == nil {
		e = nowhere{}
	}
	return e
}

// prune forgets endpoints that no subscription names any more.
func (g *Grid) prune() {
	used := map[*endpoint]bool{}
	for _, t := range g.topics {
		for _, s := range t.subscriptions {
			used[s.endpoint] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.endpoints.byKey)) {
		if e := g.endpoints.byKey[key]; !used[e] {
			delete(g.endpoints.byKey, key)
			if e.saved {
				g.writing.unsaveHealth(e)
			}
		}
	}
}

// learn takes note of a request's outcome. Ten failures in a row put the
// endpoint on probation for the time that the last one asks for; each further one
// doubles it, up to four hours; a success ends it. A fault of the event (400,
// 413) says nothing of the endpoint.
func (e *endpoint) learn(g *Grid, o Outcome) {
	if o == Delivered {
		e.failures, e.length, e.until = 0, 0, time.Time{}
		for _, d := range e.parked {
			d.parked = 0
			g.pump.queue.wait(d, later(d.due, g.now()))
		}
		e.parked = nil
		e.keepHealth(g)
		return
	}
	base := o.probation()
	if base == 0 {
		return
	}
	e.failures++
	if e.failures >= ProbationFailures {
		e.length = min(max(2*e.length, base), longestProbation)
		e.until = g.now().Add(e.length)
	}
	e.keepHealth(g)
}

// keepHealth keeps the health of an unhealthy endpoint, as long as it is
// used.
func (e *endpoint) keepHealth(g *Grid) {
	switch {
	case g.endpoints.byKey[e.key] != e: // of a state that was replaced
	case e.failures > 0 && g.rules.Probation:
		g.writing.saveHealth(e)
	case e.failures == 0 && e.saved:
		g.writing.unsaveHealth(e)
	}
}

// park and unpark cost the same however many deliveries are parked. Their order says
// nothing: the queue has an order of its own.
func (e *endpoint) park(d *delivery) {
	if d.parked == 0 {
		e.parked = append(e.parked, d)
		d.parked = len(e.parked)
	}
}

func (e *endpoint) unpark(d *delivery) {
	if d.parked == 0 {
		return
	}
	last := len(e.parked) - 1
	moved := e.parked[last]
	e.parked[d.parked-1], moved.parked = moved, d.parked
	e.parked[last], d.parked = nil, 0
	e.parked = e.parked[:last]
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
