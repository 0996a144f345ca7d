package eventhubs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	trigger "github.com/redeliver/redeliver/triggers/eventhubs"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
)

// Describe makes the hubs and consumer groups that host.json describes. Hubs that exist
// are left as they are, but for groups that they lack.
func Describe(env *kinds.Env, a *app.App, hubs *broker.Namespace) error {
	for _, d := range a.Config.EventHubs.Hubs {
		err := needHub(env.Root, hubs, broker.Hub{Name: d.Name, Partitions: d.PartitionCount, Retention: d.Retention, ConsumerGroups: d.ConsumerGroups})
		if err != nil {
			return fmt.Errorf("event hub %q: %w", d.Name, err)
		}
	}
	return nil
}

// Name is Describe for the hub that a function names in the embedded namespace,
// hubs, unless autoCreateEntities is none.
func Name(f *kinds.Function, hubs *broker.Namespace) error {
	if f.App().Switches.AutoCreateEntities == "none" {
		return nil
	}
	for _, b := range f.Def.Bindings {
		if !b.Is("eventHubTrigger") && !b.Is("eventHub") || strings.Contains(hubName(f.App(), b), "{") {
			continue
		}
		conn, ok := f.App().Settings.Connection(hubSetting(b))
		if !ok || !f.Connections.IsEmbeddedNamespace(conn) {
			continue
		}
		hub := broker.Hub{Name: hubName(f.App(), b)}
		if b.IsTrigger() {
			hub.ConsumerGroups = []string{consumerGroup(b)}
		}
		if err := needHub(f.Root, hubs, hub); err != nil {
			return err
		}
	}
	return nil
}

// needHub makes a hub, or of one that is there the consumer groups that it lacks.
func needHub(ctx context.Context, hubs *broker.Namespace, hub broker.Hub) error {
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
func Checkpoint(ctx context.Context, env *kinds.Env, a *app.App, hub, group, partition string) (*trigger.Checkpoint, error) {
	if a == nil {
		return nil, nil
	}
	conn, ok := a.Settings.Connection("Storage")
	if !ok {
		return nil, nil // no function reads hubs then
	}
	blobs, err := env.Connections.Blobs(conn)
	if err != nil {
		return nil, err
	}
	return trigger.NewStore(blobs.Container(trigger.Container), env.Embedded.EventHubs().FullyQualifiedNamespace(), hub, group).Checkpoint(ctx, partition)
}

// Outside returns the first setting by which the app's Event Hubs bindings
// name a namespace outside this host, or the empty string when one of them names the
// embedded namespace, or when there is none.
func Outside(c *services.Connections, a *app.App) string {
	if a == nil || c.Instead() {
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
			case ok && c.IsEmbeddedNamespace(conn):
				return ""
			case ok && outside == "":
				outside = conn.Setting
			}
		}
	}
	return outside
}
