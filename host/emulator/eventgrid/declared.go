package eventgrid

import (
	"context"
	"slices"
	"strings"
)

// Declared names what an app describes of Event Grid: a topic and its
// subscriptions. Others were made by hand.
type Declared struct {
	App           string   `json:"app,omitempty"` // among several that share the services
	Topic         string   `json:"topic"`
	Subscriptions []string `json:"subscriptions,omitempty"`
}

// Describes reports whether a subscription of a topic is among it, whatever its case;
// without a subscription, whether the topic is the one.
func (d *Declared) Describes(topic, subscription string) bool {
	return strings.EqualFold(d.Topic, topic) &&
		(subscription == "" || slices.ContainsFunc(d.Subscriptions, func(s string) bool { return strings.EqualFold(s, subscription) }))
}

// Declare notes what the apps describe, for as long as the state lasts: so that the
// next process can tell topics that the app has dropped from topics that were made
// by hand. It makes and removes nothing.
func (g *Grid) Declare(ctx context.Context, list []Declared) error {
	return g.change(ctx, func() error {
		same := func(a, b Declared) bool {
			return a.App == b.App && a.Topic == b.Topic && slices.Equal(a.Subscriptions, b.Subscriptions)
		}
		if !slices.EqualFunc(g.declared, list, same) {
			g.declared = slices.Clone(list)
			g.saveDeclared()
		}
		return nil
	})
}

// Declared returns what Declare was told last, also by an earlier process; nothing
// after a Reset.
func (g *Grid) Declared() (list []Declared) {
	g.look(func() { list = slices.Clone(g.declared) })
	return list
}

func (g *Grid) saveDeclared() {
	switch {
	case !g.writing.Writable():
	case len(g.declared) == 0:
		g.writing.Delete([]byte(declaredKey))
	default:
		g.writing.Set([]byte(declaredKey), marshal(g.declared))
	}
}

// PutTopic makes a topic, or gives the topic of that name other settings: its key
// and its resource change, subscriptions and their events stay. A topic of the
// other schema is removed with all that it has, and made anew. An empty Key keeps
// the key that is there.
func (g *Grid) PutTopic(ctx context.Context, t Topic) error {
	if err := t.check(); err != nil {
		return err
	}
	return g.changeTopic(ctx, t.Name, func() error {
		old := g.topics[fold(t.Name)]
		if old != nil && t.Key == "" {
			t.Key = old.Key
		}
		if t.Key == "" {
			t.Key = accessKey(&g.ids)
		}
		switch {
		case old == nil:
			g.addTopicLocked(t)
		case old.InputSchema != t.InputSchema:
			g.removeTopicLocked(old)
			g.addTopicLocked(t)
		case old.Topic != t:
			old.Topic = t
			g.writing.saveTopic(old)
		}
		return nil
	})
}
