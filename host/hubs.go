package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/services"
	ehtrigger "github.com/redeliver/redeliver/triggers/eventhubs"
)

// nameHubs makes the hubs and consumer groups that the app describes and its functions
// name. Hubs that exist are left as they are, but for groups that they lack.
func (g *generation) nameHubs() error {
	hubs := g.host.embedded.EventHubs()
	if err := g.describeHubs(hubs); err != nil {
		return err
	}
	for _, f := range g.functions {
		if err := f.nameHubs(hubs); err != nil {
			return fmt.Errorf("function %q: %w", f.def.Name, err)
		}
	}
	return nil
}

// describeHubs is nameHubs for what host.json describes.
func (g *generation) describeHubs(hubs *eventhubs.Namespace) error {
	for _, d := range g.app.Config.EventHubs.Hubs {
		err := needHub(g.host.root, hubs, eventhubs.Hub{Name: d.Name, Partitions: d.PartitionCount, Retention: d.Retention, ConsumerGroups: d.ConsumerGroups})
		if err != nil {
			return fmt.Errorf("event hub %q: %w", d.Name, err)
		}
	}
	return nil
}

// nameHubs is nameHubs for what one function names in the embedded namespace, for which
// hubs stands.
func (f *function) nameHubs(hubs *eventhubs.Namespace) error {
	g := f.gen
	if g.app.Switches.AutoCreateEntities == "none" {
		return nil
	}
	for _, b := range f.def.Bindings {
		if !b.Is("eventHubTrigger") && !b.Is("eventHub") || strings.Contains(hubName(g.app, b), "{") {
			continue
		}
		conn, ok := g.app.Settings.Connection(hubSetting(b))
		if !ok || g.host.opts.Services != nil || !g.host.connections.IsEmbeddedNamespace(conn) {
			continue
		}
		hub := eventhubs.Hub{Name: hubName(g.app, b)}
		if b.IsTrigger() {
			hub.ConsumerGroups = []string{consumerGroup(b)}
		}
		if err := needHub(g.host.root, hubs, hub); err != nil {
			return err
		}
	}
	return nil
}

// needHub makes a hub, or of one that is there the consumer groups that it lacks.
func needHub(ctx context.Context, hubs *eventhubs.Namespace, hub eventhubs.Hub) error {
	err := hubs.CreateHub(ctx, hub)
	if !errors.Is(err, bindings.ErrAlreadyExists) || !hubs.Has(hub.Name) {
		return err
	}
	for _, group := range hub.ConsumerGroups {
		if err := hubs.CreateConsumerGroup(ctx, hub.Name, group); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return err
		}
	}
	return nil
}

// hubSetting is the name of a binding's connection.
func hubSetting(b *app.Binding) string {
	if b.Connection == "" {
		return "EventHub"
	}
	return b.Connection
}

// hubName is the hub of a binding: the EntityPath of its connection string, else its
// own eventHubName.
func hubName(a *app.App, b *app.Binding) string {
	if conn, ok := a.Settings.Connection(hubSetting(b)); ok {
		if path := services.Fields(conn)["entitypath"]; path != "" {
			return path
		}
	}
	return b.String("eventHubName")
}

// Checkpoint returns how far a consumer group has read a partition of a hub of the
// embedded namespace, as the checkpoint store of the app's storage account says it; nil
// when it does not say, or when the app has none.
func (h *Host) Checkpoint(ctx context.Context, hub, group, partition string) (*ehtrigger.Checkpoint, error) {
	g := h.current.Load()
	if g == nil {
		return nil, nil
	}
	conn, ok := g.app.Settings.Connection("Storage")
	if !ok {
		return nil, nil // no function reads hubs then
	}
	blobs, err := h.connections.Blobs(conn)
	if err != nil {
		return nil, err
	}
	return ehtrigger.NewStore(blobs.Container(ehtrigger.Container), h.embedded.EventHubs().FullyQualifiedNamespace(), hub, group).Checkpoint(ctx, partition)
}

// ConsumerGroups returns the consumer groups by which the app's functions read a hub
// of the embedded namespace, sorted and once each.
func (h *Host) ConsumerGroups(hub string) (groups []string) {
	a := h.App()
	if a == nil {
		return nil
	}
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !b.Is("eventHubTrigger") || !strings.EqualFold(hubName(a, b), hub) {
				continue
			}
			if conn, ok := a.Settings.Connection(hubSetting(b)); ok && h.connections.IsEmbeddedNamespace(conn) {
				groups = append(groups, consumerGroup(b))
			}
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// EventHubsOutside returns the first setting by which the app's Event Hubs bindings
// name a namespace outside this host, or the empty string when one of them names the
// embedded namespace, or when there is none.
func (h *Host) EventHubsOutside() string {
	a := h.App()
	if a == nil || h.opts.Services != nil {
		return ""
	}
	outside := ""
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !b.Is("eventHubTrigger") && !b.Is("eventHub") {
				continue
			}
			conn, ok := a.Settings.Connection(hubSetting(b))
			switch {
			case ok && h.connections.IsEmbeddedNamespace(conn):
				return ""
			case ok && outside == "":
				outside = conn.Setting
			}
		}
	}
	return outside
}
