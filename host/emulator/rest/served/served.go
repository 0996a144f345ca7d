// Package served lists the storage services that are served over HTTP. A further one is a
// package beside rest/queues and a line here.
package served

import (
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/queues"
	"github.com/redeliver/redeliver/host/emulator/rest/tables"
)

// NewServer returns a server of all storage services; see [rest.NewServer].
func NewServer(clk clock.Clock, opts *rest.Options) (*rest.Server, error) {
	return rest.NewServer(clk, opts, queues.Service(), rest.BlobService(), tables.Service())
}
