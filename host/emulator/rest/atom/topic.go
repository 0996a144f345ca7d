package atom

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const topicRoot = "TopicDescription"

func putTopic(c *call, description *element) error {
	f := fields{of: description}
	t := servicebus.Topic{Name: c.target.entity, AuthorizationRules: f.authorizationRules()}
	err := f.settings(&t)
	if err != nil {
		return err
	}
	var full topic
	err = c.inside(func(ctx context.Context) (err error) {
		var info *servicebus.TopicInfo
		if c.update {
			var old *servicebus.TopicInfo
			if old, err = c.admin.GetTopic(ctx, t.Name); err != nil {
				return err
			}
			keepFixed(description, &t, &old.Topic)
			info, err = c.admin.UpdateTopic(ctx, t)
		} else {
			info, err = c.admin.CreateTopic(ctx, t)
		}
		if err == nil {
			full, err = c.countFilters(ctx, info)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.answerEntry(c.stored(), c.describeTopic(full))
}

// topic is a topic with how many filters its subscriptions have together, which
// versions of the interface from 2024-05 on report.
type topic struct {
	*servicebus.TopicInfo
	sqlFilters, correlationFilters int
}

func (c *call) countFilters(ctx context.Context, t *servicebus.TopicInfo) (topic, error) {
	out := topic{TopicInfo: t}
	subscriptions, err := c.admin.ListSubscriptions(ctx, t.Name)
	if err != nil {
		return out, err
	}
	for _, s := range subscriptions {
		rules, err := c.admin.ListRules(ctx, t.Name, s.Name)
		if err != nil {
			return out, err
		}
		for _, r := range rules {
			if r.Filter.Kind == servicebus.CorrelationFilter {
				out.correlationFilters++
			} else {
				out.sqlFilters++ // true and false are SQL filters too: 1=1 and 1=0
			}
		}
	}
	return out, nil
}

func listTopics(c *call) error {
	return list(c, "Topics", func(ctx context.Context) ([]topic, error) {
		infos, err := c.admin.ListTopics(ctx)
		if err != nil {
			return nil, err
		}
		topics := make([]topic, len(infos))
		for i, info := range infos {
			if topics[i], err = c.countFilters(ctx, info); err != nil {
				return nil, err
			}
		}
		return topics, nil
	}, c.describeTopic)
}

func (c *call) describeTopic(t topic) described {
	return described{path: t.Name, title: t.Name, created: t.Created, updated: t.Updated, root: topicRoot, write: func(w *writer) {
		w.settings(c, &t.Topic, "DefaultMessageTimeToLive", "MaxSizeInMegabytes", "RequiresDuplicateDetection", "DuplicateDetectionHistoryTimeWindow", "EnableBatchedOperations")
		w.number("SizeInBytes", t.SizeInBytes)
		w.flag("FilteringMessagesBeforePublishing", false)
		w.flag("IsAnonymousAccessible", false)
		w.authorizationRules(t.AuthorizationRules)
		w.settings(c, &t.Topic, "Status", "UserMetadata")
		w.times(t.Runtime)
		w.settings(c, &t.Topic, "SupportOrdering")
		w.counts(t.Counts)
		w.number("SubscriptionCount", int64(t.SubscriptionCount))
		w.settings(c, &t.Topic, "AutoDeleteOnIdle", "EnablePartitioning")
		w.field("EntityAvailabilityStatus", "Available")
		w.flag("EnableSubscriptionPartitioning", false)
		w.settings(c, &t.Topic, "EnableExpress", "MaxMessageSizeInKilobytes")
		w.number("SqlFilterCount", int64(t.sqlFilters))
		w.number("CorrelationFilterCount", int64(t.correlationFilters))
	}}
}
