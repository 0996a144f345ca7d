package config

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/schemas"
)

// Apply makes a namespace have the entities of the file. Missing entities
// are made. Existing ones get the file's settings and, where the file names
// rules, the file's rules. Entities that the file does not mention stay as
// they are. Applying again changes nothing.
//
// The faults are entities of the namespace that contradict the file in what is
// decided at creation; if there are any, nothing was changed. The error is a failure
// of the namespace itself; what was done before stays.
//
// It is for files without faults, and for one caller at a time.
func (e *Entities) Apply(ctx context.Context, admin servicebus.Admin) ([]*schemas.Fault, error) {
	if e == nil || e.doc == nil {
		return nil, nil
	}
	a := applier{ctx: ctx, admin: admin, of: e}
	if err := a.compare(); err != nil || len(a.faults) > 0 {
		schemas.Sort(a.faults)
		return a.faults, err
	}
	// Entities first, because they forward to each other: a target must exist.
	for _, step := range []func() error{a.create, a.update, a.rules} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Check finds what Apply would refuse, and changes nothing.
func (e *Entities) Check(ctx context.Context, admin servicebus.Admin) ([]*schemas.Fault, error) {
	if e == nil || e.doc == nil {
		return nil, nil
	}
	a := applier{ctx: ctx, admin: admin, of: e}
	err := a.compare()
	schemas.Sort(a.faults)
	return a.faults, err
}

type applier struct {
	ctx    context.Context
	admin  servicebus.Admin
	of     *Entities
	faults []*schemas.Fault

	// The namespace's entity; nil is missing.
	queues        []*servicebus.QueueInfo
	topics        []*servicebus.TopicInfo
	subscriptions []*servicebus.SubscriptionInfo
}

// found turns "not found" into nil.
func found[T any](v *T, err error) (*T, error) {
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil
	}
	return v, err
}

// compare reads what the namespace has and looks for contradictions.
func (a *applier) compare() error {
	for _, q := range a.of.Queues {
		have, err := found(a.admin.GetQueue(a.ctx, q.Name))
		if err != nil {
			return fmt.Errorf("queue %q: %w", q.Name, err)
		}
		a.queues = append(a.queues, have)
		if have != nil {
			a.fixed(q.Path, "RequiresSession", have.RequiresSession, q.RequiresSession)
			a.fixed(q.Path, "RequiresDuplicateDetection", have.RequiresDuplicateDetection, q.RequiresDuplicateDetection)
			a.partitions(q.Path, have.EnablePartitioning, q.EnablePartitioning)
			continue
		}
		other, err := found(a.admin.GetTopic(a.ctx, q.Name))
		if err != nil {
			return fmt.Errorf("queue %q: %w", q.Name, err)
		}
		if other != nil {
			a.taken(q.Path, "topic")
		}
	}
	for _, t := range a.of.Topics {
		have, err := found(a.admin.GetTopic(a.ctx, t.Name))
		if err != nil {
			return fmt.Errorf("topic %q: %w", t.Name, err)
		}
		a.topics = append(a.topics, have)
		if have != nil {
			a.fixed(t.Path, "RequiresDuplicateDetection", have.RequiresDuplicateDetection, t.RequiresDuplicateDetection)
			a.partitions(t.Path, have.EnablePartitioning, t.EnablePartitioning)
			continue
		}
		other, err := found(a.admin.GetQueue(a.ctx, t.Name))
		if err != nil {
			return fmt.Errorf("topic %q: %w", t.Name, err)
		}
		if other != nil {
			a.taken(t.Path, "queue")
		}
	}
	for _, s := range a.of.Subscriptions {
		have, err := found(a.admin.GetSubscription(a.ctx, s.Topic, s.Name))
		if err != nil {
			return fmt.Errorf("subscription %q of topic %q: %w", s.Name, s.Topic, err)
		}
		a.subscriptions = append(a.subscriptions, have)
		if have != nil {
			a.fixed(s.Path, "RequiresSession", have.RequiresSession, s.RequiresSession)
		}
	}
	return nil
}

const wayOut = "delete the entity in the namespace, or reset the state, and start again; or let the file say what the namespace has"

func (a *applier) fixed(path, key string, have, want bool) {
	if have == want {
		return
	}
	at := schemas.JoinPath(schemas.JoinPath(path, "Properties"), key)
	f := a.of.doc.Fault(at, fmt.Sprint(want), fmt.Sprint(have), "the entity exists and was created with another value, which cannot be changed")
	f.Hint = wayOut
	a.faults = append(a.faults, f)
}

// partitions is fixed for a setting that an entity keeps when the file leaves it out.
func (a *applier) partitions(path string, have, want *bool) {
	if want != nil && have != nil {
		a.fixed(path, "EnablePartitioning", *have, *want)
	}
}

func (a *applier) taken(path, kind string) {
	at := schemas.JoinPath(path, "Name")
	f := a.of.doc.Fault(at, a.of.doc.Found(at), "a name that is not in use", "the namespace has a "+kind+" of this name")
	f.Hint = wayOut
	a.faults = append(a.faults, f)
}

// create makes what is missing, without forwarding.
func (a *applier) create() (err error) {
	for i, q := range a.of.Queues {
		if a.queues[i] != nil {
			continue
		}
		d := q.Queue
		d.ForwardTo, d.ForwardDeadLetteredMessagesTo = "", ""
		if a.queues[i], err = a.admin.CreateQueue(a.ctx, d); err != nil {
			return fmt.Errorf("queue %q: %w", q.Name, err)
		}
	}
	for i, t := range a.of.Topics {
		if a.topics[i] != nil {
			continue
		}
		if a.topics[i], err = a.admin.CreateTopic(a.ctx, t.Topic); err != nil {
			return fmt.Errorf("topic %q: %w", t.Name, err)
		}
	}
	for i, s := range a.of.Subscriptions {
		if a.subscriptions[i] != nil {
			continue
		}
		d := s.Subscription
		d.ForwardTo, d.ForwardDeadLetteredMessagesTo = "", ""
		var first *servicebus.Rule
		if len(s.Rules) > 0 {
			first = &s.Rules[0]
		}
		if a.subscriptions[i], err = a.admin.CreateSubscription(a.ctx, d, first); err != nil {
			return fmt.Errorf("subscription %q of topic %q: %w", s.Name, s.Topic, err)
		}
	}
	return nil
}

// update gives everything the file's settings, where they differ.
func (a *applier) update() error {
	for i, q := range a.of.Queues {
		have := a.queues[i].Queue
		q.AuthorizationRules = have.AuthorizationRules // the file has none
		if !reflect.DeepEqual(wantedQueue(q.Queue, have), have) {
			if _, err := a.admin.UpdateQueue(a.ctx, q.Queue); err != nil {
				return fmt.Errorf("queue %q: %w", q.Name, err)
			}
		}
	}
	for i, t := range a.of.Topics {
		have := a.topics[i].Topic
		t.AuthorizationRules = have.AuthorizationRules
		if !reflect.DeepEqual(wantedTopic(t.Topic, have), have) {
			if _, err := a.admin.UpdateTopic(a.ctx, t.Topic); err != nil {
				return fmt.Errorf("topic %q: %w", t.Name, err)
			}
		}
	}
	for i, s := range a.of.Subscriptions {
		if have := a.subscriptions[i].Subscription; !reflect.DeepEqual(wantedSubscription(s.Subscription, have), have) {
			if _, err := a.admin.UpdateSubscription(a.ctx, s.Subscription); err != nil {
				return fmt.Errorf("subscription %q of topic %q: %w", s.Name, s.Topic, err)
			}
		}
	}
	return nil
}

// rules gives subscriptions for which the file names rules these and no others.
func (a *applier) rules() error {
	for _, s := range a.of.Subscriptions {
		if len(s.Rules) == 0 {
			continue
		}
		if err := a.rulesOf(s); err != nil {
			return fmt.Errorf("subscription %q of topic %q: %w", s.Name, s.Topic, err)
		}
	}
	return nil
}

func (a *applier) rulesOf(s Subscription) error {
	list, err := a.admin.ListRules(a.ctx, s.Topic, s.Name)
	if err != nil {
		return err
	}
	have := map[string]*servicebus.Rule{}
	for _, r := range list {
		have[strings.ToLower(r.Name)] = r
	}
	for _, r := range s.Rules {
		key := strings.ToLower(r.Name)
		old := have[key]
		delete(have, key)
		switch {
		case old == nil:
			_, err = a.admin.CreateRule(a.ctx, s.Topic, s.Name, r)
		case !sameRule(*old, r):
			_, err = a.admin.UpdateRule(a.ctx, s.Topic, s.Name, r)
		}
		if err != nil {
			return fmt.Errorf("rule %q: %w", r.Name, err)
		}
	}
	for _, r := range list {
		if have[strings.ToLower(r.Name)] == nil {
			continue
		}
		if err := a.admin.DeleteRule(a.ctx, s.Topic, s.Name, r.Name); err != nil {
			return fmt.Errorf("rule %q: %w", r.Name, err)
		}
	}
	return nil
}

func sameRule(a, b servicebus.Rule) bool {
	return reflect.DeepEqual(a.Filter, b.Filter) && reflect.DeepEqual(a.Action, b.Action)
}
