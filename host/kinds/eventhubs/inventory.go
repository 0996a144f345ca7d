package eventhubs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
)

// HubInfo is a hub of the embedded Event Hubs namespace.
type HubInfo struct {
	Name       string         `json:"name"`
	Partitions []HubPartition `json:"partitions"`
}

// HubPartition is a partition of a hub. LastSequence is -1 before the first event.
type HubPartition struct {
	ID           string          `json:"id"`
	Events       int64           `json:"events"` // that are kept
	LastSequence int64           `json:"lastSequence"`
	Checkpoints  []HubCheckpoint `json:"checkpoints"` // one for each consumer group
}

// HubCheckpoint is how far a consumer group has read a partition.
type HubCheckpoint struct {
	ConsumerGroup  string `json:"consumerGroup"`
	SequenceNumber *int64 `json:"sequenceNumber"`  // of the last event before it; null: there is none
	Behind         int64  `json:"behind"`          // events that are kept and come after it
	Error          string `json:"error,omitempty"` // why it cannot be read
}

// Hubs lists the hubs of the embedded namespace with their partitions, and how far
// consumer groups have read them. Call it inside the clock.
func Hubs(ctx context.Context, env *kinds.Env, a *app.App) ([]HubInfo, error) {
	ns, out := env.Embedded.EventHubs(), []HubInfo{}
	list, err := ns.Hubs(ctx)
	if err != nil {
		return nil, err
	}
	for _, hub := range list {
		says, err := ns.Hub(ctx, hub.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		info := HubInfo{Name: hub.Name, Partitions: []HubPartition{}}
		groups := []string{eventhubsapi.DefaultConsumerGroup}
		for _, group := range append(slices.Clone(hub.ConsumerGroups), consumerGroups(env, a, hub.Name)...) {
			if group != "" && !slices.ContainsFunc(groups, func(g string) bool { return strings.EqualFold(g, group) }) {
				groups = append(groups, group)
			}
		}
		for _, id := range says.Partitions {
			p, err := ns.Partition(ctx, hub.Name, id)
			if err != nil {
				return nil, err
			}
			at := HubPartition{ID: id, LastSequence: p.LastSequence, Checkpoints: []HubCheckpoint{}}
			if !p.Empty {
				at.Events = p.LastSequence - p.BeginningSequence + 1
			}
			for _, group := range groups {
				at.Checkpoints = append(at.Checkpoints, checkpoint(ctx, env, a, hub.Name, group, p, at.Events))
			}
			info.Partitions = append(info.Partitions, at)
		}
		out = append(out, info)
	}
	return out, nil
}

func checkpoint(ctx context.Context, env *kinds.Env, a *app.App, hub, group string, p *eventhubsapi.Partition, events int64) HubCheckpoint {
	out := HubCheckpoint{ConsumerGroup: group, Behind: events}
	c, err := Checkpoint(ctx, env, a, hub, group, p.ID)
	switch {
	case err != nil:
		out.Error = err.Error()
	case c != nil && c.SequenceNumber >= 0:
		out.SequenceNumber = &c.SequenceNumber
		out.Behind = min(events, max(0, p.LastSequence-c.SequenceNumber))
	}
	return out
}

// consumerGroups returns the consumer groups by which the app's functions read a hub
// of the embedded namespace, sorted and once each.
func consumerGroups(env *kinds.Env, a *app.App, hub string) (groups []string) {
	if a == nil {
		return nil
	}
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !b.Is("eventHubTrigger") || !strings.EqualFold(hubName(a, b), hub) {
				continue
			}
			if conn, ok := a.Settings.Connection(hubSetting(b)); ok && env.Connections.IsEmbeddedNamespace(conn) {
				groups = append(groups, consumerGroup(b))
			}
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
