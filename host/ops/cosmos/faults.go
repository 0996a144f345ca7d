package cosmos

import "github.com/redeliver/redeliver/host/faults"

// operations are what Cosmos DB does.
var operations = faults.Service{ // read only
	Name: "cosmos",
	Reads: []string{
		"Changes", "Container", "Containers", "Items", "Pending", "Ranges", "Read",
	},
	Writes: []string{
		"Clear", "Create", "CreateContainer", "Delete", "DeleteContainer", "Purge", "Replace", "Reset", "Upsert",
	},
	Losable: []string{"Delete", "Replace", "Upsert"},
}
