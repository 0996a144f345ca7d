package host

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// Inspect reads the app in dir as a start would, the functions that its handler
// program declares included, and runs nothing of it but that program, for as
// long as it takes to ask. The app is returned whenever its folder can be read.
// The error then means that the handler does not build or start; faults in
// files stand in the app, as does a function without a handler.
func Inspect(ctx context.Context, dir string, opts *Options) (*app.App, error) {
	h, err := New(dir, opts)
	if err != nil {
		return nil, err
	}
	var a *app.App
	h.clk.Inside("inspect", func() { a, err = inspect(ctx, h) })
	if h.own != nil {
		h.own.Close()
	}
	return a, err
}

func inspect(ctx context.Context, h *Host) (*app.App, error) {
	defer h.cancel()
	h.handlers.inspecting = true
	opts := h.loader.options(ctx)
	read, err := app.Load(h.dir, opts)
	if err != nil {
		return nil, err
	}
	h.loader.remember(read, opts)
	if !read.OK() || !read.Handler.Served() && h.opts.Handlers == nil {
		return read, nil
	}
	inv, handler, err := h.handlers.open(ctx, read)
	if err != nil {
		return read, err
	}
	defer func() { _ = inv.Close(context.Background()) }() // it was only asked
	declared, err := inv.Functions(h.root)
	if err != nil {
		return read, err
	}
	if declared == nil {
		declared = []call.Declaration{}
	}
	opts = h.loader.options(ctx)
	opts.Declared, opts.Handler, opts.InFiles = declared, handler.Started(), inFiles(inv, handler)
	a, err := app.Load(h.dir, opts)
	if err != nil {
		return read, err
	}
	if a.OK() {
		g := h.loader.generation(a, inv, declared, nil) // finds functions that cannot be prepared
		defer g.discard()
		var load *LoadError
		if err := g.rehearse(); errors.As(err, &load) && len(load.Faults) > 0 {
			a.Faults = append(a.Faults, load.Faults...)
		} else if err != nil {
			a.Faults = append(a.Faults, &schemas.Fault{File: "host.json", Reason: err.Error()})
		}
		return a, h.loader.tryWorker(g)
	}
	return a, nil
}
