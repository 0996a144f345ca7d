package eventhubs

import "github.com/redeliver/redeliver/host/faults"

// operations are what Event Hubs does.
var operations = faults.Service{ // read only
	Name: "eventhubs",
	Reads: []string{
		"Hub", "Hubs", "Partition", "ReadEvents", "Receive", "Settings",
	},
	Writes: []string{
		"Clear", "CreateConsumerGroup", "CreateHub", "DeleteHub", "Reset", "SendEvents",
	},
	Losable: []string{"SendEvents"},
}
