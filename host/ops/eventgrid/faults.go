package eventgrid

import "github.com/redeliver/redeliver/host/faults"

// operations are what Event Grid does towards endpoints: a Retry is part of a Deliver.
var operations = faults.Service{ // read only
	Name:   "eventgrid",
	Others: []string{"Deliver", "Retry"}, Parts: []string{"Retry"}, Losable: []string{"Deliver", "Retry"},
	Answered: "Deliver",
}
