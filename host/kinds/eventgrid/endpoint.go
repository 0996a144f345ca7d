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
	// Front is the host that has the function, nil when none is left, and the function's name there.
	Front    func(function string) (front kinds.Front, own string)
	Function string
}

var _ eventgrid.Endpoint = Endpoint{}

// Deliver implements eventgrid.Endpoint.
func (e Endpoint) Deliver(ctx context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	front, function := e.Front(e.Function)
	if front == nil {
		return nil, context.Canceled // the services end
	}
	hook, known := front.Hook(function)
	switch {
	case !known:
		hook = "eventgrid"
	case hook == "":
		return nil, eventgrid.ErrInvalidFunction
	}
	resp := front.BringHook(trigger.WithSender(ctx, trigger.Sender{Source: r.Source, Numbers: r.Numbers}), hook, function, &bindings.HTTPRequest{
		Method: r.Method(), Header: r.Header(), Body: r.Body,
		URL: "http://localhost/runtime/webhooks/" + hook + "?functionName=" + url.QueryEscape(function),
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &eventgrid.Response{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
}
