package eventhubs

// PartitionOf is partitionOf.
func PartitionOf(key string, n int) int { return partitionOf(key, n) }
