package servicebus

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

func invalidName(entity, subscription string) error {
	return fmt.Errorf("%w: entity %q, subscription %q", bindings.ErrInvalidName, entity, subscription)
}

// onSubscription is onEntity for a subscription.
func onSubscription[T any](ctx context.Context, ns *Namespace, what, topic, name string, f func(op *operation, p servicebus.Path) (T, error)) (out T, err error) {
	if name == "" {
		return out, invalidName(topic, name)
	}
	return onEntity(ctx, ns, what, topic, name, f)
}

// CreateSubscription implements servicebus.Admin.
func (ns *Namespace) CreateSubscription(ctx context.Context, d servicebus.Subscription, first *servicebus.Rule) (*servicebus.SubscriptionInfo, error) {
	return onSubscription(ctx, ns, "CreateSubscription", d.Topic, d.Name, func(op *operation, p servicebus.Path) (*servicebus.SubscriptionInfo, error) {
		topic, err := op.lookUp(topicKind, servicebus.Path{Entity: p.Entity})
		if err != nil {
			return nil, err
		}
		e, err := op.createSubscription(topic, d, first)
		if err != nil {
			return nil, err
		}
		return e.subscriptionInfo(), nil
	})
}

// GetSubscription implements servicebus.Admin.
func (ns *Namespace) GetSubscription(ctx context.Context, topic, name string) (*servicebus.SubscriptionInfo, error) {
	return onSubscription(ctx, ns, "GetSubscription", topic, name, func(op *operation, p servicebus.Path) (*servicebus.SubscriptionInfo, error) {
		e, err := op.lookUp(subKind, p)
		if err != nil {
			return nil, err
		}
		return e.subscriptionInfo(), nil
	})
}

// UpdateSubscription implements servicebus.Admin.
func (ns *Namespace) UpdateSubscription(ctx context.Context, d servicebus.Subscription) (*servicebus.SubscriptionInfo, error) {
	return onSubscription(ctx, ns, "UpdateSubscription", d.Topic, d.Name, func(op *operation, p servicebus.Path) (*servicebus.SubscriptionInfo, error) {
		e, err := op.lookUp(subKind, p)
		if err != nil {
			return nil, err
		}
		if err := fixed("Subscription", "RequiresSession", e.subscription.RequiresSession, d.RequiresSession); err != nil {
			return nil, err
		}
		before := e.subscription
		e.subscription = &d
		if err := e.fill(); err != nil {
			e.subscription = before
			return nil, err
		}
		e.changed(op)
		return e.subscriptionInfo(), nil
	})
}

// DeleteSubscription implements servicebus.Admin.
func (ns *Namespace) DeleteSubscription(ctx context.Context, topic, name string) error {
	if name == "" {
		return invalidName(topic, name)
	}
	return remove(ctx, ns, "DeleteSubscription", subKind, topic, name)
}

// ListSubscriptions implements servicebus.Admin.
func (ns *Namespace) ListSubscriptions(ctx context.Context, topic string) ([]*servicebus.SubscriptionInfo, error) {
	return onEntity(ctx, ns, "ListSubscriptions", topic, "", func(op *operation, p servicebus.Path) (list []*servicebus.SubscriptionInfo, err error) {
		e, err := op.lookUp(topicKind, p)
		if err != nil {
			return nil, err
		}
		for _, s := range e.subscriptions {
			for _, q := range s.queues() {
				q.tick(op)
			}
			list = append(list, s.subscriptionInfo())
		}
		return list, nil
	})
}

// onRules runs f on a subscription and the place of a rule in it, -1 when there is
// none of that name.
func onRules[T any](ctx context.Context, ns *Namespace, what, topic, subscription, name string, f func(op *operation, e *entity, i int) (T, error)) (out T, err error) {
	return onSubscription(ctx, ns, what, topic, subscription, func(op *operation, p servicebus.Path) (out T, err error) {
		e, err := op.lookUp(subKind, p)
		if err != nil {
			return out, err
		}
		return f(op, e, slices.IndexFunc(e.rules, func(r *rule) bool { return strings.EqualFold(r.Name, name) }))
	})
}

func noRule(e *entity, name string) error {
	return refuse(messaging.ConditionNotFound, "%s: the rule %q could not be found", e.name(), name)
}

// changeRules puts other rules in place.
func (e *entity) changeRules(op *operation, rules []*rule) {
	e.rules = rules
	e.updated = op.now
	e.use(op)
	op.saveEntity(e)
}

// CreateRule implements servicebus.Admin.
func (ns *Namespace) CreateRule(ctx context.Context, topic, subscription string, d servicebus.Rule) (*servicebus.Rule, error) {
	return onRules(ctx, ns, "CreateRule", topic, subscription, d.Name, func(op *operation, e *entity, i int) (*servicebus.Rule, error) {
		if err := servicebus.ValidateRuleName(d.Name); err != nil {
			return nil, err
		}
		if i >= 0 {
			return nil, refuse(messaging.ConditionEntityAlreadyExists, "%s: the rule %q exists already", e.name(), e.rules[i].Name)
		}
		r, err := op.newRule(d)
		if err != nil {
			return nil, err
		}
		e.changeRules(op, append(slices.Clip(e.rules), r))
		return r.description(), nil
	})
}

// GetRule implements servicebus.Admin.
func (ns *Namespace) GetRule(ctx context.Context, topic, subscription, name string) (*servicebus.Rule, error) {
	return onRules(ctx, ns, "GetRule", topic, subscription, name, func(_ *operation, e *entity, i int) (*servicebus.Rule, error) {
		if i < 0 {
			return nil, noRule(e, name)
		}
		return e.rules[i].description(), nil
	})
}

// UpdateRule implements servicebus.Admin.
func (ns *Namespace) UpdateRule(ctx context.Context, topic, subscription string, d servicebus.Rule) (*servicebus.Rule, error) {
	return onRules(ctx, ns, "UpdateRule", topic, subscription, d.Name, func(op *operation, e *entity, i int) (*servicebus.Rule, error) {
		if i < 0 {
			return nil, noRule(e, d.Name)
		}
		d.Name, d.Created = e.rules[i].Name, e.rules[i].Created
		r, err := compile(d, ns.ids.GUID)
		if err != nil {
			return nil, err
		}
		rules := slices.Clone(e.rules)
		rules[i] = r
		e.changeRules(op, rules)
		return r.description(), nil
	})
}

// DeleteRule implements servicebus.Admin.
func (ns *Namespace) DeleteRule(ctx context.Context, topic, subscription, name string) error {
	_, err := onRules(ctx, ns, "DeleteRule", topic, subscription, name, func(op *operation, e *entity, i int) (struct{}, error) {
		if i < 0 {
			return struct{}{}, noRule(e, name)
		}
		e.changeRules(op, slices.Delete(slices.Clone(e.rules), i, i+1))
		return struct{}{}, nil
	})
	return err
}

// ListRules implements servicebus.Admin.
func (ns *Namespace) ListRules(ctx context.Context, topic, subscription string) ([]*servicebus.Rule, error) {
	return onRules(ctx, ns, "ListRules", topic, subscription, "", func(_ *operation, e *entity, _ int) (list []*servicebus.Rule, err error) {
		for _, r := range e.rules {
			list = append(list, r.description())
		}
		slices.SortFunc(list, func(a, b *servicebus.Rule) int { return strings.Compare(lower(a.Name), lower(b.Name)) })
		return list, nil
	})
}
