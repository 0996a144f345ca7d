package served

import (
	"cmp"
	"context"

	"github.com/rs/zerolog"

	tasks "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/durabletask"
	grid "github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/blob"
	"github.com/redeliver/redeliver/host/kinds/durable"
	"github.com/redeliver/redeliver/host/kinds/eventgrid"
	"github.com/redeliver/redeliver/host/services"
)

// Open opens the embedded services, which bring events to the functions of the host that
// runs; front returns the one that has a function, and its name there, or nil when none is
// left.
func Open(clk clock.Clock, opts *services.Options, front func(function string) (kinds.Front, string)) (*services.Embedded, error) {
	opts.Function = func(name string) grid.Endpoint { return eventgrid.Endpoint{Front: front, Function: name} }
	opts.BlobEvent = func(account string, e blobs.Event) {
		if f, _ := front(""); f != nil {
			blob.Publish(f.Env(), account, e)
		}
	}
	return services.Open(clk, opts)
}

// ManagementAPI is the HTTP management API of a host, for the task hubs of the app that runs;
// current is nil as long as none does. It is served nowhere, and costs nothing, until a
// function is given its addresses.
func ManagementAPI(clk clock.Clock, log zerolog.Logger, embedded *services.Embedded, token func(context.Context) (context.Context, func()), current func() kinds.Generation) *durabletask.API {
	return durabletask.New(&durabletask.Options{
		Clock: clk, Token: token, Logger: log,
		Hub: func(name string) tasks.Hub {
			g := current()
			if g == nil || !g.App().UsesDurable() {
				return nil
			}
			return embedded.Durable().Hub(cmp.Or(name, g.App().TaskHub()))
		},
		Hubs: func() []string { return embedded.Durable().Hubs() },
		Functions: func() (f tasks.Functions) {
			if g := current(); g != nil {
				f = durable.Functions(g)
			}
			return f
		},
		Forwarded: func() bool {
			g := current()
			return g != nil && g.App().Config.Durable.UseForwardedHost
		},
	})
}

// Residents are the residents of all kinds, for a host.
func Residents(env *kinds.Env) []kinds.Resident {
	return []kinds.Resident{eventgrid.NewTopics(env), durable.NewHubs(env)}
}
