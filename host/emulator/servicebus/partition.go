package servicebus

import (
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// The rules for entities with enablePartitioning. Their messages are not spread:
// that all are in one partition is something that can happen in the service too.
//
// Source: docs, Partitioned queues and topics.

// isPartitioned reports whether an entity was made with partitions.
func isPartitioned(e servicebus.Echoed) bool {
	return e.EnablePartitioning != nil && *e.EnablePartitioning
}

// partitionKey is the text that decides the partition of a message; nil when the
// service is free to choose.
func partitionKey(m *servicebus.Message) *string {
	if m.SessionID != nil {
		return m.SessionID
	}
	return m.PartitionKey
}

// checkPartitionKey fails if a message would belong to two partitions. Most clients
// refuse to send it, to any entity.
func checkPartitionKey(m *servicebus.Message) error {
	if m.SessionID != nil && m.PartitionKey != nil && *m.SessionID != *m.PartitionKey {
		return refuse(messaging.ConditionNotAllowed, "the session id %q and the partition key %q of a message differ: want one value, or only one of them", *m.SessionID, *m.PartitionKey)
	}
	return nil
}

// checkPartition fails if messages would make a transaction of a partitioned entity
// reach into more than one partition. Messages for other entities lie in one of it
// until they are passed on: the partition of their transaction partition key.
func (t *transaction) checkPartition(e *entity, messages []*servicebus.Message) error {
	scope := t.ns.entities[t.scope]
	if scope == nil || !scope.seen.partitioned {
		return nil
	}
	for _, m := range messages {
		key := m.TransactionPartitionKey
		if scope == e {
			key = partitionKey(m)
			if key == nil && e.window > 0 && m.MessageID != "" {
				key = &m.MessageID
			}
		}
		switch {
		case key == nil:
			return refuse(messaging.ConditionNotAllowed, "a message without a partition key cannot be sent in a transaction of the partitioned entity %q", t.entity)
		case t.partition == nil:
			own := *key
			t.partition = &own
		case *t.partition != *key:
			return refuse(messaging.ConditionNotAllowed, "a transaction of the partitioned entity %q has one partition key: %q, not %q too", t.entity, *t.partition, *key)
		}
	}
	return nil
}
