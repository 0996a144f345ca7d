package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc/health/grpc_health_v1"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

const (
	// describeLimit and healthLimit bound, in real time, calls that need no
	// handler code.
	describeLimit = 30 * time.Second
	healthLimit   = 2 * time.Second
)

// Spec says what to start, and whom to tell.
type Spec struct {
	process.Spec
	// HostVersion is told to the handler; for its log only.
	HostVersion string
	// Logger takes lines about the connection, all at debug level or below. The
	// zero value discards them.
	Logger zerolog.Logger
}

// Handlers is a program of functions, kept running. It implements host.Invoker.
//
// Except where a method says otherwise, call it with the clock's baton, from as
// many goroutines as you like.
type Handlers struct {
	*process.Keeper[*conn]
	clk  clock.Clock
	spec Spec
}

// run is one process of the program.
type run = process.Run[*conn]

// Start starts the program and returns when it is ready to be called. It waits
// outside the clock. The error is a *[process.StartError].
func Start(clk clock.Clock, spec Spec) (*Handlers, error) {
	spec.WatchesHost = true
	spec.Spec = spec.WithDefaults()
	keeper, err := process.Keep(clk, spec.Spec, func(ctx context.Context, number int) (*conn, error) {
		if number == 1 {
			removeSockets()
		}
		return connect(ctx, spec, number)
	})
	if err != nil {
		return nil, err
	}
	return &Handlers{keeper, clk, spec}, nil
}

// Functions asks the process what it offers, in the order of registration.
func (h *Handlers) Functions(ctx context.Context) ([]call.Declaration, error) {
	p, err := h.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var r *functionpb.DescribeResponse
	h.clk.Outside(ctx, "describe functions", func() {
		rctx, cancel := context.WithTimeout(p.Conn.streams, describeLimit) //clock:outside a call without handler code
		defer cancel()
		defer context.AfterFunc(ctx, cancel)() //clock:outside a call without handler code
		r, err = p.Conn.stub.Describe(rctx, &functionpb.DescribeRequest{HostVersion: h.spec.HostVersion})
		if err != nil {
			p.Conn.child.EndsWithin(exitDelay)
		}
	})
	if exit := h.Leave(p); exit != nil && err != nil {
		return nil, fmt.Errorf("ask the handler for its functions: %w", exit)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the handler for its functions: %w", err)
	}
	list := make([]call.Declaration, 0, len(r.GetFunctions()))
	for _, f := range r.GetFunctions() {
		d, err := call.DeclarationFromProto(f)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// Health reports whether there is a process that answers now. It does not wait
// for a new one.
func (h *Handlers) Health(ctx context.Context) error {
	p, err := h.Ready()
	if err != nil {
		return err
	}
	h.clk.Outside(ctx, "handler health", func() {
		rctx, cancel := context.WithTimeout(p.Conn.streams, healthLimit) //clock:outside a call without handler code
		defer cancel()
		_, err = p.Conn.health.Check(rctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
		if err != nil {
			p.Conn.child.EndsWithin(exitDelay)
		}
	})
	if exit := h.Leave(p); exit != nil {
		return exit
	}
	return err
}
