package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// operations are what a service does, sorted, as the points of its faults have it
// ([services.FaultPoint.Op]).
var operations = map[string][]string{ // read only
	"queue": {
		"Clear", "Count", "Create", "Delete", "DeleteQueue", "Exists", "HiddenMessages", "Peek", "Put", "QueueCounts",
		"QueueMessage", "QueueMessages", "QueueMetadata", "QueuePolicies", "QueueServiceProperties", "Queues",
		"Receive", "ReleaseMessage", "SetQueueMetadata", "SetQueuePolicies", "SetQueueServiceProperties", "Update",
	},
	"blob": {
		"Access", "AcquireLease", "AppendBlock", "BlobServiceProperties", "Blobs", "BlockList", "BreakLease",
		"ChangeLease", "ClearPages", "Containers", "CopyFrom", "Create", "Delete", "FindBlobs", "Get", "PageRanges",
		"Properties", "Put", "PutBlock", "PutBlockList", "PutPages", "ReleaseLease", "RenewLease", "Seal",
		"SetAccess", "SetBlobServiceProperties", "SetHeaders", "SetMetadata", "SetTags", "SetTier", "Snapshot", "Tags",
	},
	"servicebus": {
		"Abandon", "AcceptSession", "Begin", "Bury", "CancelScheduled", "Close", "Commit", "Complete", "CreateQueue",
		"CreateRule", "CreateSubscription", "CreateTopic", "DeadLetter", "Defer", "DeleteMessages", "DeleteQueue",
		"DeleteRule", "DeleteSubscription", "DeleteTopic", "ExpireLocks", "ExpireSession", "GetQueue", "GetRule",
		"GetSubscription", "GetTopic", "Held", "ListQueues", "ListRules", "ListSubscriptions", "ListTopics", "Lost",
		"Peek", "Purge", "Receive", "ReceiveDeferred", "Receiver", "Redrive", "Release", "Renew", "RenewSession",
		"Rollback", "Schedule", "Send", "Sessions", "SetState", "State", "UpdateQueue", "UpdateRule",
		"UpdateSubscription", "UpdateTopic",
	},
	"eventhubs": {
		"Clear", "CreateConsumerGroup", "CreateHub", "DeleteHub", "Hub", "Hubs", "Partition", "ReadEvents", "Receive",
		"Reset", "SendEvents", "Settings",
	},
	"cosmos": {
		"Changes", "Clear", "Container", "Containers", "Create", "CreateContainer", "Delete", "DeleteContainer",
		"Items", "Pending", "Purge", "Ranges", "Read", "Replace", "Reset", "Upsert",
	},
	"eventgrid": {"Deliver", "Retry"},
	Handler:     {"Invoke"},
}

// Operations are the names of what a service does, sorted; of all services when it is "".
func Operations(service string) []string {
	if service != "" {
		return slices.Clone(operations[service])
	}
	var all []string
	for _, names := range operations {
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkOperation refuses an operation that the service of the fault does not have.
func (f *Fault) checkOperation() error {
	known := Operations(f.Service)
	if f.Operation == "" || f.Operation == "*" || slices.ContainsFunc(known, func(op string) bool { return strings.EqualFold(op, f.Operation) }) {
		return nil
	}
	text := fmt.Sprintf("no service has an operation %q", f.Operation)
	if f.Service != "" {
		text = fmt.Sprintf("%s has no operation %q", f.Service, f.Operation)
	}
	if near := schemas.Nearest(f.Operation, known); near != "" {
		return fmt.Errorf("%s; did you mean %q?", text, near)
	}
	for _, service := range Services() {
		for _, op := range operations[service] {
			if strings.EqualFold(op, f.Operation) {
				return fmt.Errorf("%s; %s has", text, service)
			}
		}
	}
	if f.Service == "" {
		return fmt.Errorf("%s: name the service to see those that it has", text)
	}
	return fmt.Errorf("%s: want one of %s", text, strings.Join(known, ", "))
}

// orMeant is the end of a refusal of a word that is none of some.
func orMeant(word string, words []string) string {
	if near := schemas.Meant(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
