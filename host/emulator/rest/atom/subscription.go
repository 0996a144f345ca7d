package atom

import (
	"context"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

const (
	subscriptionRoot = "SubscriptionDescription"
	firstRuleRoot    = "DefaultRuleDescription"
)

func putSubscription(c *call) error {
	description, err := c.body()
	if err != nil {
		return err
	}
	if description.name != subscriptionRoot {
		return fail(http.StatusBadRequest, "the entry describes a %q; want %s", description.name, subscriptionRoot)
	}
	s := servicebus.Subscription{Topic: c.target.entity, Name: c.target.subscription}
	f := fields{of: description}
	if err := f.settings(&s); err != nil {
		return err
	}
	var first *servicebus.Rule
	if e := description.child(firstRuleRoot); e != nil {
		r, err := readRule(e)
		if err != nil {
			return err
		}
		first = &r
	}
	var info *servicebus.SubscriptionInfo
	err = c.inside(func(ctx context.Context) (err error) {
		if !c.update {
			if _, err := c.admin.GetTopic(ctx, s.Topic); err != nil {
				return err
			}
			info, err = c.admin.CreateSubscription(ctx, s, first)
			return noTarget(err)
		}
		old, err := c.admin.GetSubscription(ctx, s.Topic, s.Name)
		if err != nil {
			return err
		}
		keepFixed(description, &s, &old.Subscription)
		info, err = c.admin.UpdateSubscription(ctx, s)
		return noTarget(err)
	})
	if err != nil {
		return err
	}
	return c.answerEntry(c.stored(), c.describeSubscription(info))
}

func getSubscription(c *call) error {
	var info *servicebus.SubscriptionInfo
	err := c.inside(func(ctx context.Context) (err error) {
		info, err = c.admin.GetSubscription(ctx, c.target.entity, c.target.subscription)
		return err
	})
	if errors.Is(err, bindings.ErrNotFound) {
		return c.publiclyListed()
	}
	if err != nil {
		return err
	}
	return c.answerEntry(http.StatusOK, c.describeSubscription(info))
}

func deleteSubscription(c *call) error {
	return c.deleted(c.inside(func(ctx context.Context) error {
		return c.admin.DeleteSubscription(ctx, c.target.entity, c.target.subscription)
	}))
}

func listSubscriptions(c *call) error {
	return list(c, "Subscriptions", func(ctx context.Context) ([]*servicebus.SubscriptionInfo, error) {
		return c.admin.ListSubscriptions(ctx, c.target.entity)
	}, c.describeSubscription)
}

func (c *call) describeSubscription(s *servicebus.SubscriptionInfo) described {
	path := servicebus.Path{Entity: s.Topic, Subscription: s.Name}.String()
	return described{path: path, title: s.Name, created: s.Created, updated: s.Updated, root: subscriptionRoot, write: func(w *writer) {
		w.settings(c, &s.Subscription, "LockDuration", "RequiresSession", "DefaultMessageTimeToLive", "DeadLetteringOnMessageExpiration", "DeadLetteringOnFilterEvaluationExceptions")
		w.number("MessageCount", s.Counts.Total())
		w.settings(c, &s.Subscription, "MaxDeliveryCount", "EnableBatchedOperations", "Status", "ForwardTo")
		w.times(s.Runtime)
		w.counts(s.Counts)
		w.settings(c, &s.Subscription, "UserMetadata", "ForwardDeadLetteredMessagesTo", "AutoDeleteOnIdle")
		w.field("EntityAvailabilityStatus", "Available")
	}}
}
