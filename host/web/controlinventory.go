package web

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) inventory(ctx context.Context, in control.GetInventory) (out control.Inventory, err error) {
	out = control.Inventory{
		State:      s.host.State(),
		Errors:     s.errors(),
		Functions:  s.functionInfos(),
		Outputs:    s.outputInfos(),
		EventGrid:  s.gridTopics(),
		Deliveries: s.gridDeliveries(in.Deliveries),
	}
	if out.Queues, err = s.queueInfos(ctx); err != nil {
		return out, err
	}
	if out.Containers, err = s.containerInfos(ctx); err != nil {
		return out, err
	}
	if out.ServiceBus, err = s.busEntities(ctx); err != nil {
		return out, err
	}
	if out.EventHubs, err = hubskind.Hubs(ctx, s.host.Env(), s.host.App()); err != nil {
		return out, err
	}
	out.Cosmos, err = s.cosmosContainers(ctx)
	return out, err
}

func (s *Server) functionInfos() []control.FunctionInfo {
	out := []control.FunctionInfo{}
	for _, h := range s.apps() {
		if a := h.App(); a != nil {
			out = append(out, infosOf(h, a)...)
		}
	}
	return out
}

// infosOf are the functions of one app.
func infosOf(h *host.Host, a *app.App) (out []control.FunctionInfo) {
	for _, f := range app.Check(a).Functions {
		info := control.FunctionInfo{Name: qualified(h, f.Name), Trigger: f.Trigger, Source: f.Source, State: "enabled"}
		def := a.Function(f.Name)
		switch {
		case f.NotServed != "":
			info.State, info.Detail = "not served", f.NotServed
		case f.InError, def != nil && def.InError():
			info.State = "error"
			if def != nil && len(def.Faults) > 0 {
				info.Detail = def.Faults[0].Error()
			}
		case f.Disabled != "":
			info.State, info.Detail = control.FunctionDisabled, f.Disabled
		default:
			if err := h.ListenerError(f.Name); err != nil {
				info.State, info.Detail = "error", "its listener failed and will start again: "+err.Error()
			}
		}
		out = append(out, info)
	}
	return out
}

func (s *Server) queueInfos(ctx context.Context) ([]control.QueueInfo, error) {
	out := []control.QueueInfo{}
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
		out = append(out, control.QueueInfo{Name: name, Count: n.Visible + n.Invisible, Visible: n.Visible, Invisible: n.Invisible})
	}
	return out, nil
}

func (s *Server) containerInfos(ctx context.Context) ([]control.ContainerInfo, error) {
	out := []control.ContainerInfo{}
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
func (s *Server) containerInfo(ctx context.Context, name string) (control.ContainerInfo, error) {
	out := control.ContainerInfo{Name: name}
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
