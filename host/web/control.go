package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	servicebuskind "github.com/redeliver/redeliver/host/kinds/servicebus"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/web/api"
)

// operations is the control API: each operation of package control with its handler.
func (s *Server) operations() []operation {
	out := []operation{
		direct(s.status),
		inside(s, s.inventory),
		inside(s, s.listQueues),
		inside(s, s.sendMessage),
		inside(s, s.peekQueue),
		inside(s, s.purgeQueue),
		direct(s.redriveQueue),
		streamed(s.upload),
		streamed(s.download),
		inside(s, s.listEntities),
		inside(s, s.createEntity),
		inside(s, s.deleteEntity),
		inside(s, s.sendBusMessage),
		inside(s, s.peekEntity),
		inside(s, s.purgeEntity),
		inside(s, s.redriveEntity),
		inside(s, s.expireLocks),
		inside(s, s.listContainers),
		inside(s, s.createContainer),
		inside(s, s.deleteContainer),
		inside(s, s.writeDocuments),
		inside(s, s.readDocuments),
		inside(s, s.purgeDocuments),
		inside(s, s.createTopic),
		inside(s, s.subscribe),
		inside(s, s.deleteTopic),
		inside(s, s.unsubscribe),
		inside(s, s.publish),
		inside(s, s.createHub),
		inside(s, s.createGroup),
		inside(s, s.sendEvent),
		direct(s.listOutputs),
		direct(s.peekOutputs),
		direct(s.failOutputs),
		direct(s.invoke),
		streamed(s.journal),
		direct(s.explain),
		direct(s.app),
		inside(s, s.dues),
		direct(s.runAgain),
		inside(s, s.messages),
		streamed(s.messageBody),
		inside(s, s.releaseMessage),
		inside(s, s.poisonMessage),
		direct(s.redriveMessages),
		direct(s.clockStatus),
		direct(s.advance),
		direct(s.nextDeadline),
		direct(s.setClock),
		streamed(s.saveState),
		direct(s.loadState),
		direct(s.resetState),
		direct(s.reload),
		streamed(s.describe),
	}
	if s.opts.Secret != "" {
		out = append(out, direct(s.identity))
	}
	if s.opts.Faults != nil {
		out = append(out, inside(s, s.listFaults), inside(s, s.addFault), inside(s, s.clearFaults))
	}
	if s.opts.Crash != nil {
		out = append(out, inside(s, s.crashAt))
	}
	if s.opts.Stop != nil {
		out = append(out, direct(s.stop))
	}
	return out
}

// An operation is one with its handler, whose error is what refuses it.
type operation struct {
	api.Route
	serve func(w http.ResponseWriter, r *http.Request) error
}

// streamed is an operation whose handler writes the answer by itself.
func streamed[In api.Operation[Out], Out any](serve func(w http.ResponseWriter, r *http.Request, in In) error) operation {
	var in In
	return operation{api.RouteOf(in), func(w http.ResponseWriter, r *http.Request) error {
		in, err := decoded[In](r)
		if err != nil {
			return err
		}
		return serve(w, r, in)
	}}
}

// direct is an operation whose handler looks after the clock by itself.
func direct[In api.Operation[Out], Out any](do func(ctx context.Context, in In) (Out, error)) operation {
	var in In
	status := api.RouteOf(in).Status
	return streamed(func(w http.ResponseWriter, r *http.Request, in In) error {
		out, err := do(r.Context(), in)
		if err != nil {
			return err
		}
		if _, none := any(out).(api.None); none {
			w.WriteHeader(status)
		} else {
			writeJSON(w, status, out)
		}
		return nil
	})
}

// inside is an operation whose handler runs under the host's clock, and goes on when
// its caller has gone.
func inside[In api.Operation[Out], Out any](s *Server, do func(ctx context.Context, in In) (Out, error)) operation {
	var in In
	name := api.RouteOf(in).Name
	return direct(func(_ context.Context, in In) (out Out, err error) {
		err = s.inside(name, func(ctx context.Context) (err error) {
			out, err = do(ctx, in)
			return err
		})
		return out, err
	})
}

// decoded is the operation that a request asks for.
func decoded[In any](r *http.Request) (in In, err error) {
	err = api.Decode(r, &in)
	if refused := (*api.Error)(nil); err != nil && !errors.As(err, &refused) {
		err = unread(err)
	}
	return in, err
}

// controlRoutes serves the operations.
func (s *Server) controlRoutes(mux *http.ServeMux) {
	own := http.NewServeMux()
	for _, op := range s.operations() {
		own.HandleFunc(op.Method+" "+api.Prefix+op.Path, func(w http.ResponseWriter, r *http.Request) {
			err := s.elsewhere(op.Needs)
			if err == nil {
				err = s.served(r, func() error { return op.serve(w, limited(w, r, op.Limit)) })
			}
			if err != nil {
				refusal := s.meant(op.Service(), namesOf(op.Route, r), refusalOf(op.Service(), err))
				writeJSON(w, refusal.Status, refusal)
			}
		})
	}
	if s.opts.Metrics != nil {
		own.Handle("GET "+api.Prefix+"/metrics", s.opts.Metrics)
	}
	mux.Handle(api.Prefix+"/", own)
}

// served serves an operation. One that panics is refused: its caller has an answer, and
// not the end of the connection.
func (s *Server) served(r *http.Request, serve func() error) (err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler: // what has begun cannot become a refusal
			panic(cause)
		default:
			s.opts.Logger.Error().Str("component", "web").Str("request", r.Method+" "+r.URL.Path).Interface("panic", cause).Bytes("stack", debug.Stack()).Msg("an operation has failed")
			err = refuse(http.StatusInternalServerError, fmt.Sprintf("the host has failed to answer: %v", cause), "this is a fault of redeliver; what the host says stands in its log")
		}
	}()
	return serve()
}

// limited is a request with a body that has an end.
func limited(w http.ResponseWriter, r *http.Request, limit int64) *http.Request {
	if limit < 0 {
		return r
	}
	if limit == api.MaxBody {
		listen.Within(r, listen.BodyPatience)
	}
	out := new(http.Request)
	*out = *r
	out.Body = http.MaxBytesReader(w, r.Body, limit)
	return out
}

// elsewhere refuses an operation of an embedded service where the app uses
// another one: its data there would never be found.
func (s *Server) elsewhere(service string) error {
	var setting, what, kind string
	switch service {
	case "storage":
		setting, what, kind = s.host.StorageOutside(), "an account", "account"
	case "servicebus":
		setting, what, kind = servicebuskind.Outside(s.host.Connections(), s.host.App()), "a Service Bus namespace", "namespace"
	case "eventhubs":
		setting, what, kind = hubskind.Outside(s.host.Connections(), s.host.App()), "an Event Hubs namespace", "namespace"
	}
	if setting == "" {
		return nil
	}
	return refuse(http.StatusConflict, setting+" is "+what+" outside this host",
		fmt.Sprintf("this command is for the embedded %s; use a client of that %[1]s, or the command of the host that serves it", kind))
}
