package served

import (
	"github.com/redeliver/redeliver/host/clock"
	grid "github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/blob"
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

// Residents are the residents of all kinds, for a host.
func Residents(env *kinds.Env) []kinds.Resident {
	return []kinds.Resident{eventgrid.NewTopics(env)}
}
