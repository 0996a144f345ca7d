package run

import (
	"context"
	"reflect"
	"strings"

	"github.com/redeliver/redeliver/host"
	grid "github.com/redeliver/redeliver/host/emulator/eventgrid"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/servicebus"
	"github.com/redeliver/redeliver/host/recorded"
)

// GetInventory lists what the host has: functions, and what the services hold.
type GetInventory struct {
	ops.Op[Inventory] `route:"GET /inventory"`

	Deliveries int `query:"deliveries" min:"0" fault:"deliveries must be a number of 0 or more"` // so many deliveries of Event Grid at most, the first; 0: all
}

func (in GetInventory) Do(ctx context.Context, e *ops.Env) (out Inventory, err error) {
	out = Inventory{
		State:      e.Host.State(),
		Errors:     e.Errors(),
		Functions:  functionInfos(e),
		Outputs:    outputInfos(e),
		Deliveries: eventgrid.Deliveries(e, in.Deliveries),
	}
	for _, s := range e.Services {
		if s.List == nil {
			continue
		}
		list, err := s.List(ctx, e)
		if err != nil {
			return out, queues.Service.Refusal(err)
		}
		if list != nil {
			out.add(s.Path, list)
		}
	}
	return out, nil
}

// add puts a list of a service where it stands in JSON.
func (i *Inventory) add(path string, list any) {
	fields := reflect.ValueOf(i).Elem()
	for f, at := range fields.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == path {
			at.Set(reflect.ValueOf(list))
			return
		}
	}
	if i.More == nil {
		i.More = map[string]any{}
	}
	i.More[path] = list
}

// Inventory is what a host has: the functions of the running generation and
// what its embedded services hold. Each service has a list of its own, sorted
// by name, that is never null.
type Inventory struct {
	State      host.State             `json:"state"`
	Errors     []string               `json:"errors,omitempty"` // why no app runs
	Functions  []FunctionInfo         `json:"functions"`
	Queues     []queues.QueueInfo     `json:"queues"`
	Containers []blobs.ContainerInfo  `json:"containers"`
	ServiceBus []servicebus.BusEntity `json:"servicebus"`
	EventGrid  []eventgrid.GridTopic  `json:"eventgrid"`
	EventHubs  []hubskind.HubInfo     `json:"eventhubs"`

	Cosmos []cosmos.CosmosContainer `json:"cosmos"`

	// Outputs are those that are not served, with what was recorded, and those that are
	// made to fail.
	Outputs []recorded.OutputInfo `json:"outputs"`

	// Deliveries are events that subscriptions of Event Grid still have, in order of
	// publication, at most 256.
	Deliveries []grid.DeliveryInfo `json:"deliveries"`

	// More are the lists of services that have none here, by the first word of their paths.
	More map[string]any `json:"more,omitempty"`
}
