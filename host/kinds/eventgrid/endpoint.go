package eventgrid

import (
	"context"
	"net/url"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/kinds"
	trigger "github.com/redeliver/redeliver/triggers/eventgrid"
)

// Endpoint delivers events to the web hook of a function of the host that runs, without a
// socket.
type Endpoint struct {
	Front    func() kinds.Front // nil when no host is left
	Function string
}

var _ eventgrid.Endpoint = Endpoint{}

// Deliver implements eventgrid.Endpoint.
func (e Endpoint) Deliver(ctx context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	front := e.Front()
	if front == nil {
		return nil, context.Canceled // the services end
	}
	hook, known := front.Hook(e.Function)
	switch {
	case !known:
		hook = "eventgrid"
	case hook == "":
		return nil, eventgrid.ErrInvalidFunction
	}
	resp := front.BringHook(trigger.WithSender(ctx, trigger.Sender{Source: r.Source, Numbers: r.Numbers}), hook, e.Function, &bindings.HTTPRequest{
		Method: r.Method(), Header: r.Header(), Body: r.Body,
		URL: "http://localhost/runtime/webhooks/" + hook + "?functionName=" + url.QueryEscape(e.Function),
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &eventgrid.Response{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
}
