package eventgrid

import "slices"

// Wanted is a topic with the subscriptions that an app describes.
type Wanted struct {
	Topic         Topic
	Subscriptions []Subscription
}

// awaited are the subscriptions that are not there yet.
type awaited struct {
	making []*subscription // at work in Subscribe, and in no topic
	wanted []*subscription // that the app wants, there or not
}

// Await says which subscriptions an app wants, in the place of what it said before; its
// name tells it from others with this Event Grid:
// until they are there, because a web hook has not shaken hands or a container is
// missing, what they would have got is in the journal as dropped. It makes nothing.
func (g *Grid) Await(app string, list []Wanted) {
	var wanted []*subscription
	for _, w := range list {
		if w.Topic.check() != nil {
			continue // making the topic says what is wrong
		}
		for _, d := range w.Subscriptions {
			if s, err := newSubscription(&topic{Topic: w.Topic}, d); err == nil {
				s.lacks, s.awaitedBy = subscriptionNotCreated, app
				wanted = append(wanted, s)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaited.wanted = append(slices.DeleteFunc(g.awaited.wanted, func(s *subscription) bool { return s.awaitedBy == app }), wanted...)
}

// missing returns the subscriptions of a topic that are wanted and not
// there yet, each once: first the ones that are being made, then the ones that
// the app waits for.
func (a *awaited) missing(t *topic) (list []*subscription) {
	for _, s := range slices.Concat(a.making, a.wanted) {
		known := func(o *subscription) bool { return fold(o.Name) == fold(s.Name) }
		if fold(s.topic.Name) == fold(t.Name) && t.find(s.Name) == nil && !slices.ContainsFunc(list, known) {
			list = append(list, s)
		}
	}
	return list
}

// lack notes why a subscription that is being made is not there.
func (g *Grid) lack(s *subscription, why Reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.lacks = why
}

// made ends the making of a subscription. The app goes on to wait for one that could
// not be made, for the same reason.
func (g *Grid) made(s *subscription) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaited.making = slices.DeleteFunc(g.awaited.making, func(o *subscription) bool { return o == s })
	for _, a := range g.awaited.wanted {
		if fold(a.topic.Name) == fold(s.topic.Name) && fold(a.Name) == fold(s.Name) {
			a.lacks = s.lacks
		}
	}
}

// renounce forgets what the app waits for, after it was removed by hand: a
// subscription of a topic, or all of them.
func (a *awaited) renounce(topic, name string) {
	a.wanted = slices.DeleteFunc(a.wanted, func(s *subscription) bool {
		return fold(s.topic.Name) == fold(topic) && (name == "" || fold(s.Name) == fold(name))
	})
}
