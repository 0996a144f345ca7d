package atom

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const queueRoot = "QueueDescription"

func putQueue(c *call, description *element) error {
	f := fields{of: description}
	q := servicebus.Queue{Name: c.target.entity, AuthorizationRules: f.authorizationRules()}
	err := f.settings(&q)
	if err != nil {
		return err
	}
	var info *servicebus.QueueInfo
	err = c.inside(func(ctx context.Context) (err error) {
		if !c.update {
			info, err = c.admin.CreateQueue(ctx, q)
			return noTarget(err)
		}
		old, err := c.admin.GetQueue(ctx, q.Name)
		if err != nil {
			return err
		}
		keepFixed(description, &q, &old.Queue)
		info, err = c.admin.UpdateQueue(ctx, q)
		return noTarget(err)
	})
	if err != nil {
		return err
	}
	return c.answerEntry(c.stored(), c.describeQueue(info))
}

func listQueues(c *call) error {
	return list(c, "Queues", c.admin.ListQueues, c.describeQueue)
}

func (c *call) describeQueue(q *servicebus.QueueInfo) described {
	return described{path: q.Name, title: q.Name, created: q.Created, updated: q.Updated, root: queueRoot, write: func(w *writer) {
		w.settings(c, &q.Queue, "LockDuration", "MaxSizeInMegabytes", "RequiresDuplicateDetection", "RequiresSession", "DefaultMessageTimeToLive", "DeadLetteringOnMessageExpiration", "DuplicateDetectionHistoryTimeWindow", "MaxDeliveryCount", "EnableBatchedOperations")
		w.number("SizeInBytes", q.SizeInBytes)
		w.number("MessageCount", q.Counts.Total())
		w.flag("IsAnonymousAccessible", false)
		w.authorizationRules(q.AuthorizationRules)
		w.settings(c, &q.Queue, "Status", "ForwardTo", "UserMetadata")
		w.times(q.Runtime)
		w.settings(c, &q.Queue, "SupportOrdering")
		w.counts(q.Counts)
		w.settings(c, &q.Queue, "AutoDeleteOnIdle", "EnablePartitioning")
		w.field("EntityAvailabilityStatus", "Available")
		w.settings(c, &q.Queue, "ForwardDeadLetteredMessagesTo", "EnableExpress", "MaxMessageSizeInKilobytes")
	}}
}
