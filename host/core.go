package host

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

// core is what the parts of a host share and nobody changes once it is made: a part that
// needs no more takes a core, and knows no Host.
type core struct {
	dir         string // of the app, absolute
	opts        Options
	clk         clock.Clock
	log         zerolog.Logger
	journal     *journal.Journal // as this app writes it
	connections *services.Connections
	root        context.Context // ends with the host
	website     func() string   // WEBSITE_HOSTNAME of handlers
	group       *clock.Group    // what outlives a generation: retirements, back-off of starts, admin calls
}
