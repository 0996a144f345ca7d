package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/control"
)

// Inventory is what a host has: the functions of the running generation and
// what its embedded services hold. Each service has a list of its own, sorted
// by name, that is never null.
type Inventory struct {
	State      host.State        `json:"state"`
	Errors     []string          `json:"errors,omitempty"` // why no app runs
	Functions  []FunctionInfo    `json:"functions"`
	Queues     []QueueInfo       `json:"queues"`
	Containers []ContainerInfo   `json:"containers"`
	ServiceBus []BusEntity       `json:"servicebus"`
	EventGrid  []GridTopic       `json:"eventgrid"`
	EventHubs  []control.HubInfo `json:"eventhubs"`

	Cosmos []CosmosContainer `json:"cosmos"`

	// Outputs are those that are not served, with what was recorded, and those that are
	// made to fail.
	Outputs []host.OutputInfo `json:"outputs"`

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

// QueueInfo is a queue of the embedded storage account.
type QueueInfo struct {
	Name      string `json:"name"`
	Count     int    `json:"count"`     // all messages
	Visible   int    `json:"visible"`   // a function could take them now
	Invisible int    `json:"invisible"` // in work, waiting for redelivery, or delayed
}

// ContainerInfo is a blob container of the embedded storage account.
type ContainerInfo struct {
	Name  string `json:"name"`
	Blobs int    `json:"blobs"` // snapshots and uncommitted blobs do not count
	Bytes int64  `json:"bytes"` // of these blobs
}

func (s *Server) inventory(w http.ResponseWriter, r *http.Request) {
	out := Inventory{
		State:     s.host.State(),
		Errors:    s.host.Errors(),
		Functions: s.functionInfos(),
		Outputs:   s.outputInfos(),
	}
	err := s.inside("inventory", func(ctx context.Context) (err error) {
		if out.Queues, err = s.queueInfos(ctx); err != nil {
			return err
		}
		if out.Containers, err = s.containerInfos(ctx); err != nil {
			return err
		}
		if out.ServiceBus, err = s.busEntities(ctx); err != nil {
			return err
		}
		out.EventGrid, out.Deliveries = s.gridTopics(), s.gridDeliveries()
		if out.EventHubs, err = s.hubInfos(ctx); err != nil {
			return err
		}
		out.Cosmos, err = s.cosmosContainers(ctx)
		return err
	})
	if err != nil {
		storageError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) functionInfos() []FunctionInfo {
	out, a := []FunctionInfo{}, s.host.App()
	if a == nil {
		return out
	}
	for _, f := range app.Check(a).Functions {
		info := FunctionInfo{Name: f.Name, Trigger: f.Trigger, Source: f.Source, State: FunctionEnabled}
		def := a.Function(f.Name)
		switch {
		case f.NotServed != "":
			info.State, info.Detail = FunctionNotServed, f.NotServed
		case f.InError, def != nil && def.InError():
			info.State = FunctionInError
			if def != nil && len(def.Faults) > 0 {
				info.Detail = def.Faults[0].Error()
			}
		case f.Disabled != "":
			info.State, info.Detail = FunctionDisabled, f.Disabled
		default:
			if err := s.host.ListenerError(f.Name); err != nil {
				info.State, info.Detail = FunctionInError, "its listener failed and will start again: "+err.Error()
			}
		}
		out = append(out, info)
	}
	return out
}

func (s *Server) queueInfos(ctx context.Context) ([]QueueInfo, error) {
	out := []QueueInfo{}
	names, err := s.host.AppStorage().Queues(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		n, err := s.host.AppStorage().QueueCounts(ctx, name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		out = append(out, QueueInfo{Name: name, Count: n.Visible + n.Invisible, Visible: n.Visible, Invisible: n.Invisible})
	}
	return out, nil
}

func (s *Server) containerInfos(ctx context.Context) ([]ContainerInfo, error) {
	out := []ContainerInfo{}
	opts := &blob.ListContainersOptions{}
	for {
		page, err := s.host.AppStorage().Containers(ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Containers {
			info, err := s.containerInfo(ctx, item.Name)
			if errors.Is(err, bindings.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return nil, err
			}
			out = append(out, info)
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return out, nil
		}
	}
}

// containerInfo counts the blobs of a container, a page at a time.
func (s *Server) containerInfo(ctx context.Context, name string) (ContainerInfo, error) {
	out := ContainerInfo{Name: name}
	opts := &blob.ListOptions{}
	for {
		page, err := s.host.AppStorage().Container(name).Blobs(ctx, opts)
		if err != nil {
			return out, err
		}
		out.Blobs += len(page.Blobs)
		for i := range page.Blobs {
			out.Bytes += page.Blobs[i].Properties.ContentLength
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return out, nil
		}
		// A large container must not keep all others from their turn.
		if err := s.host.Clock().Sleep(ctx, 0); err != nil {
			return out, err
		}
	}
}
