package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/host/web/control"
)

func queueSettings(q *servicebus.Queue) control.BusSettings {
	out := control.BusSettings{
		LockDuration: iso(q.LockDuration), MaxDeliveryCount: q.MaxDeliveryCount, DefaultMessageTimeToLive: iso(q.DefaultMessageTimeToLive),
		DeadLetteringOnMessageExpiration: q.DeadLetteringOnMessageExpiration, RequiresSession: q.RequiresSession,
		RequiresDuplicateDetection: q.RequiresDuplicateDetection,
		ForwardTo:                  q.ForwardTo, ForwardDeadLetteredMessagesTo: q.ForwardDeadLetteredMessagesTo,
		MaxSizeInMegabytes: q.MaxSizeInMegabytes, MaxMessageSizeInKilobytes: q.MaxMessageSizeInKilobytes,
		AutoDeleteOnIdle: iso(q.AutoDeleteOnIdle), Status: string(q.Status), UserMetadata: q.UserMetadata,
	}
	if q.RequiresDuplicateDetection {
		out.DuplicateDetectionHistoryTimeWindow = iso(q.DuplicateDetectionHistoryTimeWindow)
	}
	return out
}

func topicSettings(t *servicebus.Topic) control.BusSettings {
	out := control.BusSettings{
		DefaultMessageTimeToLive: iso(t.DefaultMessageTimeToLive), RequiresDuplicateDetection: t.RequiresDuplicateDetection,
		MaxSizeInMegabytes: t.MaxSizeInMegabytes, MaxMessageSizeInKilobytes: t.MaxMessageSizeInKilobytes,
		AutoDeleteOnIdle: iso(t.AutoDeleteOnIdle), Status: string(t.Status), UserMetadata: t.UserMetadata,
	}
	if t.RequiresDuplicateDetection {
		out.DuplicateDetectionHistoryTimeWindow = iso(t.DuplicateDetectionHistoryTimeWindow)
	}
	return out
}

func subscriptionSettings(s *servicebus.Subscription) control.BusSettings {
	return control.BusSettings{
		LockDuration: iso(s.LockDuration), MaxDeliveryCount: s.MaxDeliveryCount, DefaultMessageTimeToLive: iso(s.DefaultMessageTimeToLive),
		DeadLetteringOnMessageExpiration:          s.DeadLetteringOnMessageExpiration,
		DeadLetteringOnFilterEvaluationExceptions: s.DeadLetteringOnFilterEvaluationExceptions,
		RequiresSession:                           s.RequiresSession, ForwardTo: s.ForwardTo, ForwardDeadLetteredMessagesTo: s.ForwardDeadLetteredMessagesTo,
		AutoDeleteOnIdle: iso(s.AutoDeleteOnIdle), Status: string(s.Status), UserMetadata: s.UserMetadata,
	}
}

// iso is a duration, empty for one without an end.
func iso(d time.Duration) string {
	if d <= 0 || d == duration.Unbounded {
		return ""
	}
	return duration.Format(d)
}

// createEntity makes a queue, a topic or a subscription.
func (s *Server) createEntity(ctx context.Context, in control.CreateEntity) (out control.BusEntity, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue != servicebus.MainQueue {
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("%q: every queue and every subscription has its dead-letter queue: it cannot be made", path), "")
	}
	made, err := plan(&in, path)
	if err != nil {
		return out, badRequest(err)
	}
	if err = made(ctx, s.host.Services().ServiceBus()); err == nil {
		out, err = s.busEntity(ctx, path)
	}
	if path.Subscription != "" && errors.Is(err, bindings.ErrNotFound) {
		e := messaging.ErrorOf(err)
		err = refuse(e.Status, e.Text, fmt.Sprintf("make the topic first: redeliver create servicebus %s --topic", path.Entity))
	}
	return out, err
}

// maker makes an entity.
type maker func(ctx context.Context, admin servicebus.Admin) error

// plan checks what does not belong to the kind of entity, and says how to make it.
func plan(n *control.CreateEntity, path servicebus.Path) (maker, error) {
	p := planner{n: n}
	switch {
	case path.Subscription != "":
		return p.subscription(path)
	case n.Topic:
		return p.topic(path)
	}
	return p.queue(path)
}

// planner reads settings and remembers what is wrong first.
type planner struct {
	n   *control.CreateEntity
	err error
}

func (p *planner) duration(name, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := duration.Parse(text)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s: %w", name, err)
	}
	return d
}

// without refuses settings that a kind of entity does not have.
func (p *planner) without(kind string, settings map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] && p.err == nil {
			p.err = fmt.Errorf("a %s has no %s", kind, name)
		}
	}
}

func (p *planner) rule() map[string]bool {
	return map[string]bool{"filter": p.n.Filter != "", "action": p.n.Action != "", "enableDeadLetteringOnFilterEvaluationExceptions": p.n.DeadLetteringOnFilterEvaluationExceptions != nil}
}

func (p *planner) queue(path servicebus.Path) (maker, error) {
	n := p.n
	p.without(control.BusQueue, p.rule())
	q := servicebus.Queue{
		Name: path.Entity, LockDuration: p.duration("lockDuration", n.LockDuration), MaxDeliveryCount: n.MaxDeliveryCount,
		DefaultMessageTimeToLive:         p.duration("defaultMessageTimeToLive", n.DefaultMessageTimeToLive),
		DeadLetteringOnMessageExpiration: n.DeadLetteringOnMessageExpiration, RequiresSession: n.RequiresSession,
		RequiresDuplicateDetection:          n.RequiresDuplicateDetection,
		DuplicateDetectionHistoryTimeWindow: p.duration("duplicateDetectionHistoryTimeWindow", n.DuplicateDetectionHistoryTimeWindow),
		ForwardTo:                           n.ForwardTo, ForwardDeadLetteredMessagesTo: n.ForwardDeadLetteredMessagesTo,
		MaxSizeInMegabytes: n.MaxSizeInMegabytes, MaxMessageSizeInKilobytes: n.MaxMessageSizeInKilobytes,
		AutoDeleteOnIdle: p.duration("autoDeleteOnIdle", n.AutoDeleteOnIdle), Status: servicebus.Status(n.Status), UserMetadata: n.UserMetadata,
	}
	return func(ctx context.Context, admin servicebus.Admin) error {
		_, err := admin.CreateQueue(ctx, q)
		return err
	}, p.err
}

func (p *planner) topic(path servicebus.Path) (maker, error) {
	n := p.n
	p.without(control.BusTopic, p.rule())
	p.without(control.BusTopic, map[string]bool{
		"lockDuration": n.LockDuration != "", "maxDeliveryCount": n.MaxDeliveryCount != 0, "requiresSession": n.RequiresSession,
		"deadLetteringOnMessageExpiration": n.DeadLetteringOnMessageExpiration, "forwardTo": n.ForwardTo != "",
		"forwardDeadLetteredMessagesTo": n.ForwardDeadLetteredMessagesTo != "",
	})
	t := servicebus.Topic{
		Name: path.Entity, DefaultMessageTimeToLive: p.duration("defaultMessageTimeToLive", n.DefaultMessageTimeToLive),
		RequiresDuplicateDetection:          n.RequiresDuplicateDetection,
		DuplicateDetectionHistoryTimeWindow: p.duration("duplicateDetectionHistoryTimeWindow", n.DuplicateDetectionHistoryTimeWindow),
		MaxSizeInMegabytes:                  n.MaxSizeInMegabytes, MaxMessageSizeInKilobytes: n.MaxMessageSizeInKilobytes,
		AutoDeleteOnIdle: p.duration("autoDeleteOnIdle", n.AutoDeleteOnIdle), Status: servicebus.Status(n.Status), UserMetadata: n.UserMetadata,
	}
	return func(ctx context.Context, admin servicebus.Admin) error {
		_, err := admin.CreateTopic(ctx, t)
		return err
	}, p.err
}

func (p *planner) subscription(path servicebus.Path) (maker, error) {
	n := p.n
	p.without(control.BusSubscription, map[string]bool{
		"requiresDuplicateDetection": n.RequiresDuplicateDetection, "duplicateDetectionHistoryTimeWindow": n.DuplicateDetectionHistoryTimeWindow != "",
		"maxSizeInMegabytes": n.MaxSizeInMegabytes != 0, "maxMessageSizeInKilobytes": n.MaxMessageSizeInKilobytes != 0,
	})
	if n.Topic && p.err == nil {
		p.err = fmt.Errorf("%q is the path of a subscription, not of a topic", path)
	}
	sub := servicebus.Subscription{
		Topic: path.Entity, Name: path.Subscription, LockDuration: p.duration("lockDuration", n.LockDuration), MaxDeliveryCount: n.MaxDeliveryCount,
		DefaultMessageTimeToLive:                  p.duration("defaultMessageTimeToLive", n.DefaultMessageTimeToLive),
		DeadLetteringOnMessageExpiration:          n.DeadLetteringOnMessageExpiration,
		DeadLetteringOnFilterEvaluationExceptions: n.DeadLetteringOnFilterEvaluationExceptions, RequiresSession: n.RequiresSession,
		ForwardTo: n.ForwardTo, ForwardDeadLetteredMessagesTo: n.ForwardDeadLetteredMessagesTo,
		AutoDeleteOnIdle: p.duration("autoDeleteOnIdle", n.AutoDeleteOnIdle), Status: servicebus.Status(n.Status), UserMetadata: n.UserMetadata,
	}
	return func(ctx context.Context, admin servicebus.Admin) error {
		_, err := admin.CreateSubscription(ctx, sub, firstRule(n))
		return err
	}, p.err
}

// firstRule is the rule of a new subscription; nil is the default one.
func firstRule(n *control.CreateEntity) *servicebus.Rule {
	if n.Filter == "" && n.Action == "" {
		return nil
	}
	rule := &servicebus.Rule{Name: servicebus.DefaultRule}
	if n.Filter != "" {
		rule.Filter = servicebus.Filter{Kind: servicebus.SQLFilter, SQL: servicebus.SQL{Expression: n.Filter}}
	}
	if n.Action != "" {
		rule.Action = &servicebus.SQL{Expression: n.Action}
	}
	return rule
}
