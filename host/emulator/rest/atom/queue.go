package atom

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const queueRoot = "QueueDescription"

// readQueue reads a description. Session and duplicate detection are decided at
// creation: an update that does not mention them leaves them, and fixed says so.
func readQueue(name string, description *element) (q servicebus.Queue, fixed fixed, err error) {
	f := fields{of: description}
	q = servicebus.Queue{Name: name, AuthorizationRules: f.authorizationRules()}
	f.settings(&q)
	return q, f.fixed(), f.err
}

// fixed are the settings that are decided at creation. Nil was not mentioned.
type fixed struct{ session, duplicates *bool }

func (f *fields) fixed() fixed {
	return fixed{f.optionalFlag("RequiresSession"), f.optionalFlag("RequiresDuplicateDetection")}
}

// apply sets what was mentioned.
func (x fixed) apply(session, duplicates *bool) {
	if x.session != nil && session != nil {
		*session = *x.session
	}
	if x.duplicates != nil && duplicates != nil {
		*duplicates = *x.duplicates
	}
}

func putQueue(c *call, description *element) error {
	q, mentioned, err := readQueue(c.target.entity, description)
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
		q.RequiresSession, q.RequiresDuplicateDetection = old.RequiresSession, old.RequiresDuplicateDetection
		mentioned.apply(&q.RequiresSession, &q.RequiresDuplicateDetection)
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
		w.duration("LockDuration", q.LockDuration)
		w.number("MaxSizeInMegabytes", int64(q.MaxSizeInMegabytes))
		w.flag("RequiresDuplicateDetection", q.RequiresDuplicateDetection)
		w.flag("RequiresSession", q.RequiresSession)
		w.lifetime("DefaultMessageTimeToLive", q.DefaultMessageTimeToLive)
		w.flag("DeadLetteringOnMessageExpiration", q.DeadLetteringOnMessageExpiration)
		w.duration("DuplicateDetectionHistoryTimeWindow", q.DuplicateDetectionHistoryTimeWindow)
		w.number("MaxDeliveryCount", int64(q.MaxDeliveryCount))
		w.set("EnableBatchedOperations", q.EnableBatchedOperations, true)
		w.number("SizeInBytes", q.SizeInBytes)
		w.number("MessageCount", q.Counts.Total())
		w.flag("IsAnonymousAccessible", false)
		w.authorizationRules(q.AuthorizationRules)
		w.field("Status", string(q.Status))
		c.forward(w, "ForwardTo", q.ForwardTo, q.ForwardToAddress)
		if q.UserMetadata != "" {
			w.field("UserMetadata", q.UserMetadata)
		}
		w.times(q.Runtime)
		w.set("SupportOrdering", q.SupportOrdering, false)
		w.counts(q.Counts)
		w.lifetime("AutoDeleteOnIdle", q.AutoDeleteOnIdle)
		w.set("EnablePartitioning", q.EnablePartitioning, false)
		w.field("EntityAvailabilityStatus", "Available")
		c.forward(w, "ForwardDeadLetteredMessagesTo", q.ForwardDeadLetteredMessagesTo, q.ForwardDeadLetteredMessagesToAddress)
		w.set("EnableExpress", q.EnableExpress, false)
		w.number("MaxMessageSizeInKilobytes", int64(q.MaxMessageSizeInKilobytes))
	}}
}
