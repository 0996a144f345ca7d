package bus

import "github.com/redeliver/redeliver/host/emulator/amqp/wire"

// Annotations that the service reads or sets.
const (
	annSequenceNumber        wire.Symbol = "x-opt-sequence-number"
	annEnqueueSequenceNumber wire.Symbol = "x-opt-enqueue-sequence-number"
	annEnqueuedTime          wire.Symbol = "x-opt-enqueued-time"
	annLockedUntil           wire.Symbol = "x-opt-locked-until"
	annMessageState          wire.Symbol = "x-opt-message-state"
	annScheduledEnqueueTime  wire.Symbol = "x-opt-scheduled-enqueue-time"
	annPartitionKey          wire.Symbol = "x-opt-partition-key"
	annViaPartitionKey       wire.Symbol = "x-opt-via-partition-key"
	annDeadLetterSource      wire.Symbol = "x-opt-deadletter-source"
	annPartitionID           wire.Symbol = "x-opt-partition-id"
	annLockToken             wire.Symbol = "x-opt-lock-token"
)

// isOurs reports whether the service sets the annotation itself, so that what a
// sender says of it does not count.
func isOurs(key any) bool {
	s, ok := key.(wire.Symbol)
	if !ok {
		return false
	}
	switch s {
	case annSequenceNumber, annEnqueueSequenceNumber, annEnqueuedTime, annLockedUntil, annMessageState, annScheduledEnqueueTime,
		annPartitionKey, annViaPartitionKey, annDeadLetterSource, annPartitionID, annLockToken:
		return true
	}
	return false
}
