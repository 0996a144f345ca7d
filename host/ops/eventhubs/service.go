// Package eventhubs has the operations on the embedded Event Hubs namespace.
package eventhubs

import (
	"context"

	"github.com/redeliver/redeliver/host/app"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/ops"
)

// Service is Event Hubs.
var Service = &ops.Service{ // read only
	Name: "eventhub", Path: "eventhubs", Noun: "hub", Scene: ops.Scene{Entity: "eventHub", Kind: "event hub"},
	Needs: "eventhubs", Outside: outside,
	Refuse: ops.MessagingRefusal(`"redeliver ls eventhubs" lists the hubs; functions, redeliver.eventHubs in host.json and "redeliver create eventhub" make them`),
	List:   func(ctx context.Context, e *ops.Env) (any, error) { return hubs(ctx, e) },
	Listings: []ops.Listing{{
		Name: "eventhubs", Columns: []string{"HUB/PARTITION", "CONSUMER GROUP", "EVENTS", "LAST", "CHECKPOINT", "BEHIND"}, Numbers: 4, Quiet: true,
		Rows: ops.Rows(rows), Names: ops.Names(func(hub *hubskind.HubInfo) []string { return []string{hub.Name} }),
	}},
	Entities: names, Bound: bound, Each: each, Faults: operations,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{ops.Of(CreateHub{}), ops.Of(CreateGroup{}), ops.Of(SendEvent{})}
}

func outside(e *ops.Env) (setting, what, short string) {
	return hubskind.Outside(e.Host.Connections(), e.Host.App()), "an Event Hubs namespace", "namespace"
}

func hubs(ctx context.Context, e *ops.Env) ([]hubskind.HubInfo, error) {
	return hubskind.Hubs(ctx, e.Host.Env(), e.Host.App())
}

func names(ctx context.Context, e *ops.Env) (names []string, err error) {
	list, err := hubs(ctx, e)
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names, err
}

var bound = map[string]func(*app.Binding) []string{"eventHub": hub, "eventHubTrigger": hub} // read only

func hub(b *app.Binding) []string { return []string{b.String("eventHubName")} }
