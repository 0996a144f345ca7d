package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// does is what a service does, as the points of its faults have it ([services.FaultPoint.Op]).
type does struct {
	reads  []string // a disk that is full lets them through: they add nothing (Receive, AcceptSession and Close of Service Bus write locks)
	writes []string
	none   []string // of what keeps nothing on a disk of its own
}

// operations are what the services do.
var operations = map[string]does{ // read only
	"queue": {
		reads: []string{
			"Count", "Exists", "HiddenMessages", "Peek", "QueueCounts", "QueueMessage", "QueueMessages",
			"QueueMetadata", "QueuePolicies", "QueueServiceProperties", "Queues",
		},
		writes: []string{
			"Clear", "Create", "Delete", "DeleteQueue", "Put", "Receive", "ReleaseMessage", "SetQueueMetadata",
			"SetQueuePolicies", "SetQueueServiceProperties", "Update",
		},
	},
	"blob": {
		reads: []string{
			"Access", "BlobServiceProperties", "Blobs", "BlockList", "Containers", "FindBlobs", "Get", "PageRanges",
			"Properties", "Tags",
		},
		writes: []string{
			"AcquireLease", "AppendBlock", "BreakLease", "ChangeLease", "ClearPages", "CopyFrom", "Create", "Delete",
			"Put", "PutBlock", "PutBlockList", "PutPages", "ReleaseLease", "RenewLease", "Seal", "SetAccess",
			"SetBlobServiceProperties", "SetHeaders", "SetMetadata", "SetTags", "SetTier", "Snapshot",
		},
	},
	"servicebus": {
		reads: []string{
			"AcceptSession", "Begin", "Close", "GetQueue", "GetRule", "GetSubscription", "GetTopic", "Held",
			"ListQueues", "ListRules", "ListSubscriptions", "ListTopics", "Lost", "Peek", "Receive", "Receiver",
			"Sessions", "State",
		},
		writes: []string{
			"Abandon", "Bury", "CancelScheduled", "Commit", "Complete", "CreateQueue", "CreateRule",
			"CreateSubscription", "CreateTopic", "DeadLetter", "Defer", "DeleteMessages", "DeleteQueue",
			"DeleteRule", "DeleteSubscription", "DeleteTopic", "ExpireLocks", "ExpireSession", "Purge",
			"ReceiveDeferred", "Redrive", "Release", "Renew", "RenewSession", "Rollback", "Schedule", "Send",
			"SetState", "UpdateQueue", "UpdateRule", "UpdateSubscription", "UpdateTopic",
		},
	},
	"eventhubs": {
		reads: []string{
			"Hub", "Hubs", "Partition", "ReadEvents", "Receive", "Settings",
		},
		writes: []string{
			"Clear", "CreateConsumerGroup", "CreateHub", "DeleteHub", "Reset", "SendEvents",
		},
	},
	"cosmos": {
		reads: []string{
			"Changes", "Container", "Containers", "Items", "Pending", "Ranges", "Read",
		},
		writes: []string{
			"Clear", "Create", "CreateContainer", "Delete", "DeleteContainer", "Purge", "Replace", "Reset", "Upsert",
		},
	},
	"eventgrid": {none: []string{"Deliver", "Retry"}},
	Handler:     {none: []string{"Invoke"}},
}

func (d does) all() []string {
	all := slices.Concat(d.reads, d.writes, d.none)
	slices.Sort(all)
	return all
}

// Operations are the names of what a service does, sorted; of all services when it is "".
func Operations(service string) []string {
	if service != "" {
		return operations[service].all()
	}
	var all []string
	for _, does := range operations {
		all = append(all, does.all()...)
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
		for _, op := range operations[service].all() {
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
