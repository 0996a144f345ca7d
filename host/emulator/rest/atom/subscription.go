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

// readSubscription reads a description, and the first rule that it may bring along.
func readSubscription(t target, description *element) (s servicebus.Subscription, first *servicebus.Rule, fixed fixed, err error) {
	f := fields{of: description}
	s = servicebus.Subscription{Topic: t.entity, Name: t.subscription}
	f.settings(&s)
	fixed = f.fixed()
	if f.err != nil {
		return s, nil, fixed, f.err
	}
	if e := description.child(firstRuleRoot); e != nil {
		r, err := readRule(e)
		if err != nil {
			return s, nil, fixed, err
		}
		first = &r
	}
	return s, first, fixed, nil
}

func putSubscription(c *call) error {
	description, err := c.body()
	if err != nil {
		return err
	}
	if description.name != subscriptionRoot {
		return fail(http.StatusBadRequest, "the entry describes a %q; want %s", description.name, subscriptionRoot)
	}
	s, first, mentioned, err := readSubscription(c.target, description)
	if err != nil {
		return err
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
		s.RequiresSession = old.RequiresSession
		mentioned.apply(&s.RequiresSession, nil)
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
		w.duration("LockDuration", s.LockDuration)
		w.flag("RequiresSession", s.RequiresSession)
		w.lifetime("DefaultMessageTimeToLive", s.DefaultMessageTimeToLive)
		w.flag("DeadLetteringOnMessageExpiration", s.DeadLetteringOnMessageExpiration)
		w.set("DeadLetteringOnFilterEvaluationExceptions", s.DeadLetteringOnFilterEvaluationExceptions, true)
		w.number("MessageCount", s.Counts.Total())
		w.number("MaxDeliveryCount", int64(s.MaxDeliveryCount))
		w.set("EnableBatchedOperations", s.EnableBatchedOperations, true)
		w.field("Status", string(s.Status))
		c.forward(w, "ForwardTo", s.ForwardTo, s.ForwardToAddress)
		w.times(s.Runtime)
		w.counts(s.Counts)
		if s.UserMetadata != "" {
			w.field("UserMetadata", s.UserMetadata)
		}
		c.forward(w, "ForwardDeadLetteredMessagesTo", s.ForwardDeadLetteredMessagesTo, s.ForwardDeadLetteredMessagesToAddress)
		w.lifetime("AutoDeleteOnIdle", s.AutoDeleteOnIdle)
		w.field("EntityAvailabilityStatus", "Available")
	}}
}
