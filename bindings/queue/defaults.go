package queue

// Defaults of host.json's extensions.queues (spec storage 1).
const (
	DefaultBatchSize       = 16
	DefaultMaxDequeueCount = 5
)

// DefaultNewBatchThreshold is half a batch for each processor.
func DefaultNewBatchThreshold(batchSize, processors int) int { return batchSize / 2 * processors }
