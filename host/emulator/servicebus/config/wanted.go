package config

import (
	"cmp"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// What a namespace would report of the file's descriptions: defaults filled in,
// names in the spelling that it has already.

func wantedQueue(want, have bindings.ServiceBusQueue) bindings.ServiceBusQueue {
	want.Name = spelling(want.Name, have.Name)
	want.LockDuration = cmp.Or(want.LockDuration, bindings.DefaultServiceBusLockDuration)
	want.MaxDeliveryCount = cmp.Or(want.MaxDeliveryCount, bindings.DefaultServiceBusMaxDeliveryCount)
	want.DuplicateDetectionHistoryTimeWindow = cmp.Or(want.DuplicateDetectionHistoryTimeWindow, bindings.DefaultServiceBusDuplicateWindow)
	want.ForwardTo = spelling(want.ForwardTo, have.ForwardTo)
	want.ForwardDeadLetteredMessagesTo = spelling(want.ForwardDeadLetteredMessagesTo, have.ForwardDeadLetteredMessagesTo)
	want.MaxSizeInMegabytes = bindings.ServiceBusMaxSize(cmp.Or(want.MaxSizeInMegabytes, bindings.DefaultServiceBusMaxSize), want.EnablePartitioning)
	want.MaxMessageSizeInKilobytes = cmp.Or(want.MaxMessageSizeInKilobytes, bindings.DefaultServiceBusMaxMessageSize)
	want.Status = cmp.Or(want.Status, bindings.ServiceBusStatusActive)
	want.ServiceBusEchoed, want.ServiceBusForwarding = echoed(want.ServiceBusEchoed, have.ServiceBusEchoed), have.ServiceBusForwarding
	return want
}

func wantedTopic(want, have bindings.ServiceBusTopic) bindings.ServiceBusTopic {
	want.Name = spelling(want.Name, have.Name)
	want.DuplicateDetectionHistoryTimeWindow = cmp.Or(want.DuplicateDetectionHistoryTimeWindow, bindings.DefaultServiceBusDuplicateWindow)
	want.MaxSizeInMegabytes = bindings.ServiceBusMaxSize(cmp.Or(want.MaxSizeInMegabytes, bindings.DefaultServiceBusMaxSize), want.EnablePartitioning)
	want.MaxMessageSizeInKilobytes = cmp.Or(want.MaxMessageSizeInKilobytes, bindings.DefaultServiceBusMaxMessageSize)
	want.Status = cmp.Or(want.Status, bindings.ServiceBusStatusActive)
	want.ServiceBusEchoed = echoed(want.ServiceBusEchoed, have.ServiceBusEchoed)
	return want
}

func wantedSubscription(want, have bindings.ServiceBusSubscription) bindings.ServiceBusSubscription {
	want.Topic, want.Name = spelling(want.Topic, have.Topic), spelling(want.Name, have.Name)
	want.LockDuration = cmp.Or(want.LockDuration, bindings.DefaultServiceBusLockDuration)
	want.MaxDeliveryCount = cmp.Or(want.MaxDeliveryCount, bindings.DefaultServiceBusMaxDeliveryCount)
	want.ForwardTo = spelling(want.ForwardTo, have.ForwardTo)
	want.ForwardDeadLetteredMessagesTo = spelling(want.ForwardDeadLetteredMessagesTo, have.ForwardDeadLetteredMessagesTo)
	want.Status = cmp.Or(want.Status, bindings.ServiceBusStatusActive)
	want.DeadLetteringOnFilterEvaluationExceptions = orDefault(want.DeadLetteringOnFilterEvaluationExceptions, true)
	want.ServiceBusEchoed, want.ServiceBusForwarding = echoed(want.ServiceBusEchoed, have.ServiceBusEchoed), have.ServiceBusForwarding
	return want
}

func spelling(want, have string) string {
	if strings.EqualFold(want, have) {
		return have
	}
	return want
}

func echoed(e, have bindings.ServiceBusEchoed) bindings.ServiceBusEchoed {
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
