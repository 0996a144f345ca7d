package control

import (
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/web/api"
)

// GetInventory lists what the host has: functions, and what the services hold.
type GetInventory struct {
	api.Op[Inventory] `route:"GET /inventory"`

	Deliveries int `query:"deliveries" min:"0" fault:"deliveries must be a number of 0 or more"` // so many deliveries of Event Grid at most, the first; 0: all
}

// Inventory is what a host has: the functions of the running generation and
// what its embedded services hold. Each service has a list of its own, sorted
// by name, that is never null.
type Inventory struct {
	State      host.State          `json:"state"`
	Errors     []string            `json:"errors,omitempty"` // why no app runs
	Functions  []FunctionInfo      `json:"functions"`
	Queues     []QueueInfo         `json:"queues"`
	Containers []ContainerInfo     `json:"containers"`
	ServiceBus []BusEntity         `json:"servicebus"`
	EventGrid  []GridTopic         `json:"eventgrid"`
	EventHubs  []eventhubs.HubInfo `json:"eventhubs"`

	Cosmos []CosmosContainer `json:"cosmos"`

	// Outputs are those that are not served, with what was recorded, and those that are
	// made to fail.
	Outputs []recorded.OutputInfo `json:"outputs"`

	// Deliveries are events that subscriptions of Event Grid still have, in order of
	// publication, at most 256.
	Deliveries []eventgrid.DeliveryInfo `json:"deliveries"`
}

// FunctionDisabled is the state of a function that Detail says what disables.
const FunctionDisabled = "disabled"

// FunctionInfo is one function of the running generation.
type FunctionInfo struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger,omitempty"`
	Source  string `json:"source,omitempty"` // queue, route, schedule, path
	State   string `json:"state"`            // enabled, disabled, not served, error
	Detail  string `json:"detail,omitempty"`
}
