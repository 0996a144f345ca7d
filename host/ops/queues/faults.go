package queues

import "github.com/redeliver/redeliver/host/faults"

// operations are what Queue storage does.
var operations = faults.Service{ // read only
	Name: "queue",
	Reads: []string{
		"Count", "Exists", "HiddenMessages", "Peek", "QueueCounts", "QueueMessage", "QueueMessages",
		"QueueMetadata", "QueuePolicies", "QueueServiceProperties", "Queues",
	},
	Writes: []string{
		"Clear", "Create", "Delete", "DeleteQueue", "Put", "Receive", "ReleaseMessage", "SetQueueMetadata",
		"SetQueuePolicies", "SetQueueServiceProperties", "Update",
	},
	Losable: []string{"Delete", "Put", "Update"},
}
