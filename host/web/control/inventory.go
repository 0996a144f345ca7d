package control

import (
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/outputs"
)

// GetInventory lists what the host has: functions, and what the services hold.
type GetInventory struct {
	Op[Inventory] `route:"GET /inventory"`
}

// Inventory is what a host has: the functions of the running generation and
// what its embedded services hold. Each service has a list of its own, sorted
// by name, that is never null.
type Inventory struct {
	State      host.State      `json:"state"`
	Errors     []string        `json:"errors,omitempty"` // why no app runs
	Functions  []FunctionInfo  `json:"functions"`
	Queues     []QueueInfo     `json:"queues"`
	Containers []ContainerInfo `json:"containers"`
	ServiceBus []BusEntity     `json:"servicebus"`
	EventGrid  []GridTopic     `json:"eventgrid"`
	EventHubs  []HubInfo       `json:"eventhubs"`

	Cosmos []CosmosContainer `json:"cosmos"`

	// Outputs are those that are not served, with what was recorded, and those that are
	// made to fail.
	Outputs []outputs.OutputInfo `json:"outputs"`

	// Deliveries are events that subscriptions of Event Grid still have, in order of
	// publication, at most 256.
	Deliveries []eventgrid.DeliveryInfo `json:"deliveries"`
}

// The states of a function.
const (
	FunctionEnabled   = "enabled"
	FunctionDisabled  = "disabled"   // Detail says what disables it
	FunctionNotServed = "not served" // Detail says what would run it
	FunctionInError   = "error"      // Detail says why it does not run
)

// FunctionInfo is one function of the running generation.
type FunctionInfo struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger,omitempty"`
	Source  string `json:"source,omitempty"` // queue, route, schedule, path
	State   string `json:"state"`
	Detail  string `json:"detail,omitempty"`
}
