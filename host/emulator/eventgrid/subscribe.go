package eventgrid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// Subscribe makes an event subscription, after the container of its dead letters
// was found and its web hook has shaken hands; functions need not. It returns the
// state: a web hook that answers otherwise has five minutes to fetch the
// validation URL. Events that it would have got before it is there are in the
// journal as dropped. A subscription of that name that differs is replaced, and
// events that it holds stay with it; an equal one is left alone.
func (g *Grid) Subscribe(ctx context.Context, topicName string, d Subscription) (State, error) {
	s, state, err := g.prepare(topicName, d)
	if err != nil || s == nil {
		return state, err
	}
	defer g.made(s)
	if err := s.findContainer(ctx, &g.opts); err != nil {
		return "", err
	}
	g.lack(s, subscriptionNotValidated)
	if err := g.validate(ctx, s); err != nil {
		return "", err
	}
	err = g.change(ctx, func() error {
		t := s.topic
		if g.topics[fold(topicName)] != t {
			return notFound("topic %q does not exist", topicName)
		}
		s.endpoint = g.endpoints.of(s) // it may have been forgotten meanwhile
		if old := t.find(d.Name); old != nil {
			g.replaceLocked(old, s)
		} else {
			t.subscriptions = append(t.subscriptions, s)
		}
		g.prune()
		g.writing.saveSubscription(s)
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.state, nil
}

// prepare makes a subscription that is in no topic yet; nil, with its state, when
// there is an equal one.
func (g *Grid) prepare(topicName string, d Subscription) (*subscription, State, error) {
	err := g.lock()
	defer g.mu.Unlock()
	if err != nil {
		return nil, "", err
	}
	t, err := g.state.topic(topicName)
	if err != nil {
		return nil, "", err
	}
	s, err := newSubscription(t, d)
	if err != nil {
		return nil, "", err
	}
	if old := t.find(d.Name); old != nil {
		if old.expireLocked(g.now()); old.state != ValidationFailed && same(old.Subscription, d) {
			return nil, old.state, nil
		}
	}
	s.endpoint, s.lacks = g.endpoints.of(s), subscriptionNotCreated
	g.awaited.making = append(g.awaited.making, s)
	return s, "", nil
}

// find returns the subscription of that name, ignoring case, or nil.
func (t *topic) find(name string) *subscription {
	for _, s := range t.subscriptions {
		if fold(s.Name) == fold(name) {
			return s
		}
	}
	return nil
}

func same(a, b Subscription) bool { return string(marshal(a)) == string(marshal(b)) }

// replaceLocked puts a subscription in the place of another, with its events.
func (g *Grid) replaceLocked(old, s *subscription) {
	subs := s.topic.subscriptions
	subs[slices.Index(subs, old)] = s
	for _, d := range g.live {
		if d.sub != old {
			continue
		}
		d.sub = s
		if d.parked > 0 && old.endpoint != s.endpoint {
			old.endpoint.unpark(d)
			g.pump.queue.wait(d, later(d.due, g.now()))
		}
	}
	g.pump.kick()
}

// Unsubscribe removes an event subscription with its events.
func (g *Grid) Unsubscribe(ctx context.Context, topicName, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.change(ctx, func() error {
		s, err := g.state.subscription(topicName, name)
		if err != nil {
			return err
		}
		g.removeLocked(s)
		g.awaited.renounce(topicName, name)
		s.topic.subscriptions = slices.DeleteFunc(s.topic.subscriptions, func(o *subscription) bool { return o == s })
		g.prune()
		return nil
	})
}

func (g *Grid) removeLocked(s *subscription) {
	g.writing.Delete(subscriptionKey(s))
	for _, number := range slices.Sorted(maps.Keys(g.live)) {
		if d := g.live[number]; d.sub == s {
			g.removed = append(g.removed, g.dropLocked(d, subscriptionDeleted)...)
		}
	}
	g.pump.changed.Signal()
}

// findContainer sees to it that the place of dead letters exists.
func (s *subscription) findContainer(ctx context.Context, opts *Options) error {
	if s.place == "" {
		return nil
	}
	c, err := s.container(opts)
	if err == nil {
		_, err = c.Properties(ctx, nil)
	}
	if errors.Is(err, bindings.ErrNotFound) {
		return noContainer("event subscription %q of topic %q: the container %q for dead letters does not exist; make it first", s.Name, s.topic.Name, s.place)
	}
	if err != nil {
		return fmt.Errorf("event subscription %q of topic %q: container %q for dead letters: %w", s.Name, s.topic.Name, s.place, err)
	}
	return nil
}

// container is the container of a subscription's dead letters.
func (s *subscription) container(opts *Options) (blob.Container, error) {
	var account blob.Account
	if opts.Blobs != nil {
		account = opts.Blobs(s.account)
	}
	if account == nil {
		return nil, fmt.Errorf("storage account %q: %w", s.account, bindings.ErrNotFound)
	}
	return account.Container(s.place), nil
}
