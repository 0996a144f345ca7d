package azure_test

import (
	"context"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// inClock administers a namespace from outside of its clock.
type inClock struct {
	clk *clock.Virtual
	ns  *servicebus.Namespace
}

var _ servicebusapi.Admin = inClock{}

func enter[T any](c inClock, f func() (T, error)) (v T, err error) {
	c.clk.Do("admin", func() { v, err = f() })
	return v, err
}

func (c inClock) do(f func() error) (err error) {
	c.clk.Do("admin", func() { err = f() })
	return err
}

func (c inClock) CreateQueue(ctx context.Context, q servicebusapi.Queue) (*servicebusapi.QueueInfo, error) {
	return enter(c, func() (*servicebusapi.QueueInfo, error) { return c.ns.CreateQueue(ctx, q) })
}

func (c inClock) GetQueue(ctx context.Context, name string) (*servicebusapi.QueueInfo, error) {
	return enter(c, func() (*servicebusapi.QueueInfo, error) { return c.ns.GetQueue(ctx, name) })
}

func (c inClock) UpdateQueue(ctx context.Context, q servicebusapi.Queue) (*servicebusapi.QueueInfo, error) {
	return enter(c, func() (*servicebusapi.QueueInfo, error) { return c.ns.UpdateQueue(ctx, q) })
}

func (c inClock) DeleteQueue(ctx context.Context, name string) error {
	return c.do(func() error { return c.ns.DeleteQueue(ctx, name) })
}

func (c inClock) ListQueues(ctx context.Context) ([]*servicebusapi.QueueInfo, error) {
	return enter(c, func() ([]*servicebusapi.QueueInfo, error) { return c.ns.ListQueues(ctx) })
}

func (c inClock) CreateTopic(ctx context.Context, t servicebusapi.Topic) (*servicebusapi.TopicInfo, error) {
	return enter(c, func() (*servicebusapi.TopicInfo, error) { return c.ns.CreateTopic(ctx, t) })
}

func (c inClock) GetTopic(ctx context.Context, name string) (*servicebusapi.TopicInfo, error) {
	return enter(c, func() (*servicebusapi.TopicInfo, error) { return c.ns.GetTopic(ctx, name) })
}

func (c inClock) UpdateTopic(ctx context.Context, t servicebusapi.Topic) (*servicebusapi.TopicInfo, error) {
	return enter(c, func() (*servicebusapi.TopicInfo, error) { return c.ns.UpdateTopic(ctx, t) })
}

func (c inClock) DeleteTopic(ctx context.Context, name string) error {
	return c.do(func() error { return c.ns.DeleteTopic(ctx, name) })
}

func (c inClock) ListTopics(ctx context.Context) ([]*servicebusapi.TopicInfo, error) {
	return enter(c, func() ([]*servicebusapi.TopicInfo, error) { return c.ns.ListTopics(ctx) })
}

func (c inClock) CreateSubscription(ctx context.Context, s servicebusapi.Subscription, rule *servicebusapi.Rule) (*servicebusapi.SubscriptionInfo, error) {
	return enter(c, func() (*servicebusapi.SubscriptionInfo, error) { return c.ns.CreateSubscription(ctx, s, rule) })
}

func (c inClock) GetSubscription(ctx context.Context, topic, name string) (*servicebusapi.SubscriptionInfo, error) {
	return enter(c, func() (*servicebusapi.SubscriptionInfo, error) { return c.ns.GetSubscription(ctx, topic, name) })
}

func (c inClock) UpdateSubscription(ctx context.Context, s servicebusapi.Subscription) (*servicebusapi.SubscriptionInfo, error) {
	return enter(c, func() (*servicebusapi.SubscriptionInfo, error) { return c.ns.UpdateSubscription(ctx, s) })
}

func (c inClock) DeleteSubscription(ctx context.Context, topic, name string) error {
	return c.do(func() error { return c.ns.DeleteSubscription(ctx, topic, name) })
}

func (c inClock) ListSubscriptions(ctx context.Context, topic string) ([]*servicebusapi.SubscriptionInfo, error) {
	return enter(c, func() ([]*servicebusapi.SubscriptionInfo, error) { return c.ns.ListSubscriptions(ctx, topic) })
}

func (c inClock) CreateRule(ctx context.Context, topic, subscription string, r servicebusapi.Rule) (*servicebusapi.Rule, error) {
	return enter(c, func() (*servicebusapi.Rule, error) { return c.ns.CreateRule(ctx, topic, subscription, r) })
}

func (c inClock) GetRule(ctx context.Context, topic, subscription, name string) (*servicebusapi.Rule, error) {
	return enter(c, func() (*servicebusapi.Rule, error) { return c.ns.GetRule(ctx, topic, subscription, name) })
}

func (c inClock) UpdateRule(ctx context.Context, topic, subscription string, r servicebusapi.Rule) (*servicebusapi.Rule, error) {
	return enter(c, func() (*servicebusapi.Rule, error) { return c.ns.UpdateRule(ctx, topic, subscription, r) })
}

func (c inClock) DeleteRule(ctx context.Context, topic, subscription, name string) error {
	return c.do(func() error { return c.ns.DeleteRule(ctx, topic, subscription, name) })
}

func (c inClock) ListRules(ctx context.Context, topic, subscription string) ([]*servicebusapi.Rule, error) {
	return enter(c, func() ([]*servicebusapi.Rule, error) { return c.ns.ListRules(ctx, topic, subscription) })
}
