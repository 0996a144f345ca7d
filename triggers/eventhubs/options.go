package eventhubs

import (
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// Options are host.json's extensions.eventHubs and the rest of the binding. The zero
// Options, like nil, are the platform's defaults.
type Options struct {
	// ConsumerGroup; empty for eventhubs.DefaultConsumerGroup.
	ConsumerGroup string

	// Batch is cardinality = many: one invocation for a batch. Otherwise its events
	// run one after the other, also after a failure.
	Batch bool

	// MaxEventBatchSize bounds a batch. Zero: eventhubs.DefaultMaxEventBatchSize.
	MaxEventBatchSize int

	// MinEventBatchSize is how many events a batch waits for, no longer than MaxWait.
	// Zero: 1, which does not wait. It means nothing without Batch.
	MinEventBatchSize int

	// MaxWait is maxWaitTime. Zero: eventhubs.DefaultMaxWait; negative: do not wait.
	MaxWait time.Duration

	// CheckpointFrequency is batchCheckpointFrequency: every so many batches of a
	// partition a checkpoint is written. Zero: 1.
	CheckpointFrequency int

	// NoCheckpoints is enableCheckpointing = false: none is written, whatever
	// CheckpointFrequency says.
	NoCheckpoints bool

	// Initial is where a partition without a checkpoint begins. Zero: its beginning.
	Initial eventhubs.Position

	// OwnershipExpiration is how long a partition stays with a listener that does not
	// renew it. Zero: eventhubs.DefaultOwnershipExpiration.
	OwnershipExpiration time.Duration

	// UpdateInterval is the time between two looks at the owners of partitions.
	// Zero: eventhubs.DefaultUpdateInterval.
	UpdateInterval time.Duration

	// Balanced takes one partition in each look (loadBalancingStrategy Balanced), not all
	// that it may have at once (Greedy).
	Balanced bool

	// Owner names this listener in its consumer group. One that died and
	// comes back under its name has its partitions back at once. It must
	// not be empty where there is another one.
	Owner string

	// Alone says that there is no other listener: the partitions are taken once, and
	// not looked after.
	Alone bool

	// DataType is the binding's dataType: "binary" or "stream" for bytes, anything else
	// for text.
	DataType string

	// TextMembers says that the members of a JSON body are metadata where the value is a
	// text only, as on the platform (host: WorkerFunctionInvoker.cs TransformInput): not
	// of bytes, nor of a deferred value.
	TextMembers bool

	// Value, if not nil, makes the value that the function receives, in the place of
	// DataType.
	Value func(e *eventhubs.ReceivedEvent) bindings.Value

	// Written, if not nil, is told of each checkpoint once it is written. It must not
	// block.
	Written func(CheckpointWritten)

	// Notify, if not nil, is told what is wrong with a partition, named as by
	// eventhubs.Source, and what the listener does about it. It must not block.
	Notify func(source, what string, err error)
}

// CheckpointWritten is a checkpoint that a listener wrote.
type CheckpointWritten struct {
	Source         string // eventhubs.Source of the partition
	SequenceNumber int64  // of the last event before it
	Offset         string
}

// withDefaults fills in what is zero.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.ConsumerGroup == "" {
		out.ConsumerGroup = eventhubs.DefaultConsumerGroup
	}
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&out.MaxEventBatchSize, eventhubs.DefaultMaxEventBatchSize)
	fill(&out.MinEventBatchSize, eventhubs.DefaultMinEventBatchSize)
	fill(&out.CheckpointFrequency, eventhubs.DefaultCheckpointFrequency)
	out.MinEventBatchSize = min(out.MinEventBatchSize, out.MaxEventBatchSize)
	span := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	span(&out.MaxWait, eventhubs.DefaultMaxWait)
	span(&out.OwnershipExpiration, eventhubs.DefaultOwnershipExpiration)
	span(&out.UpdateInterval, eventhubs.DefaultUpdateInterval)
	if out.Owner == "" {
		out.Owner = "redeliver"
	}
	return out
}
