package servicebus

import "github.com/redeliver/redeliver/host/faults"

// operations are what Service Bus does. Receive, AcceptSession and Close write locks, for which there is room.
var operations = faults.Service{ // read only
	Name: "servicebus",
	Reads: []string{
		"AcceptSession", "Begin", "Close", "GetQueue", "GetRule", "GetSubscription", "GetTopic", "Held",
		"ListQueues", "ListRules", "ListSubscriptions", "ListTopics", "Lost", "Peek", "Receive", "Receiver",
		"Sessions", "State",
	},
	Writes: []string{
		"Abandon", "Bury", "CancelScheduled", "Commit", "Complete", "CreateQueue", "CreateRule",
		"CreateSubscription", "CreateTopic", "DeadLetter", "Defer", "DeleteMessages", "DeleteQueue",
		"DeleteRule", "DeleteSubscription", "DeleteTopic", "ExpireLocks", "ExpireSession", "Purge",
		"ReceiveDeferred", "Redrive", "Release", "Renew", "RenewSession", "Rollback", "Schedule", "Send",
		"SetState", "UpdateQueue", "UpdateRule", "UpdateSubscription", "UpdateTopic",
	},
	Losable: []string{"Abandon", "Complete", "DeadLetter", "Defer", "Release", "Send"},
}
