package config

import (
	"cmp"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// What a namespace would report of the file's descriptions: defaults filled in,
// names in the spelling that it has already.

func wantedQueue(want, have servicebus.Queue) servicebus.Queue {
	want.Name = spelling(want.Name, have.Name)
	want.LockDuration = cmp.Or(want.LockDuration, servicebus.DefaultLockDuration)
	want.MaxDeliveryCount = cmp.Or(want.MaxDeliveryCount, servicebus.DefaultMaxDeliveryCount)
	want.DuplicateDetectionHistoryTimeWindow = cmp.Or(want.DuplicateDetectionHistoryTimeWindow, servicebus.DefaultDuplicateWindow)
	want.ForwardTo = spelling(want.ForwardTo, have.ForwardTo)
	want.ForwardDeadLetteredMessagesTo = spelling(want.ForwardDeadLetteredMessagesTo, have.ForwardDeadLetteredMessagesTo)
	want.MaxSizeInMegabytes = servicebus.MaxSize(cmp.Or(want.MaxSizeInMegabytes, servicebus.DefaultMaxSize), want.EnablePartitioning)
	want.MaxMessageSizeInKilobytes = cmp.Or(want.MaxMessageSizeInKilobytes, servicebus.DefaultMaxMessageSize)
	want.Status = cmp.Or(want.Status, servicebus.StatusActive)
	want.Echoed, want.Forwarding = echoed(want.Echoed, have.Echoed), have.Forwarding
	return want
}

func wantedTopic(want, have servicebus.Topic) servicebus.Topic {
	want.Name = spelling(want.Name, have.Name)
	want.DuplicateDetectionHistoryTimeWindow = cmp.Or(want.DuplicateDetectionHistoryTimeWindow, servicebus.DefaultDuplicateWindow)
	want.MaxSizeInMegabytes = servicebus.MaxSize(cmp.Or(want.MaxSizeInMegabytes, servicebus.DefaultMaxSize), want.EnablePartitioning)
	want.MaxMessageSizeInKilobytes = cmp.Or(want.MaxMessageSizeInKilobytes, servicebus.DefaultMaxMessageSize)
	want.Status = cmp.Or(want.Status, servicebus.StatusActive)
	want.Echoed = echoed(want.Echoed, have.Echoed)
	return want
}

func wantedSubscription(want, have servicebus.Subscription) servicebus.Subscription {
	want.Topic, want.Name = spelling(want.Topic, have.Topic), spelling(want.Name, have.Name)
	want.LockDuration = cmp.Or(want.LockDuration, servicebus.DefaultLockDuration)
	want.MaxDeliveryCount = cmp.Or(want.MaxDeliveryCount, servicebus.DefaultMaxDeliveryCount)
	want.ForwardTo = spelling(want.ForwardTo, have.ForwardTo)
	want.ForwardDeadLetteredMessagesTo = spelling(want.ForwardDeadLetteredMessagesTo, have.ForwardDeadLetteredMessagesTo)
	want.Status = cmp.Or(want.Status, servicebus.StatusActive)
	want.DeadLetteringOnFilterEvaluationExceptions = orDefault(want.DeadLetteringOnFilterEvaluationExceptions, true)
	want.Echoed, want.Forwarding = echoed(want.Echoed, have.Echoed), have.Forwarding
	return want
}

func spelling(want, have string) string {
	if strings.EqualFold(want, have) {
		return have
	}
	return want
}

func echoed(e, have servicebus.Echoed) servicebus.Echoed {
	if e.EnablePartitioning == nil {
		e.EnablePartitioning = have.EnablePartitioning
	}
	e.EnablePartitioning = orDefault(e.EnablePartitioning, false)
	e.EnableExpress = orDefault(e.EnableExpress, false)
	e.SupportOrdering = orDefault(e.SupportOrdering, false)
	e.EnableBatchedOperations = orDefault(e.EnableBatchedOperations, true)
	return e
}

func orDefault(v *bool, def bool) *bool {
	if v == nil {
		return &def
	}
	return v
}
