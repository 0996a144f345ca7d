package servicebus

import (
	"strconv"

	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// rows are the row of an entity. A topic holds scheduled messages only.
func rows(e *BusEntity) [][]string {
	row := []string{e.Path}
	for n, count := range []int64{e.Active, e.Scheduled, e.Deferred, e.DeadLetter, e.TransferDeadLetter} {
		text := strconv.FormatInt(count, 10)
		if e.IsTopic() && n != 1 {
			text = "-"
		}
		row = append(row, text)
	}
	return [][]string{row}
}

// IsTopic reports whether the entity is a topic, which holds scheduled messages only.
func (e *BusEntity) IsTopic() bool { return e.Kind == setting.Topic }

// IsSubscription reports whether the entity is a subscription, to which nobody sends.
func (e *BusEntity) IsSubscription() bool { return e.Kind == setting.Subscription }

// Queues are the paths of the entity's queues: its own, and those of dead letters that hold
// some.
func (e *BusEntity) Queues() []string { return append([]string{e.Path}, e.DeadLetterQueues()...) }

// DeadLetterQueues are the paths of its queues of dead letters that hold some.
func (e *BusEntity) DeadLetterQueues() (paths []string) {
	if e.DeadLetter > 0 {
		paths = append(paths, e.Path+"/$DeadLetterQueue")
	}
	if e.TransferDeadLetter > 0 {
		paths = append(paths, e.Path+"/$Transfer/$DeadLetterQueue")
	}
	return paths
}
