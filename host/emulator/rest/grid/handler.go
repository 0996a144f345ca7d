//clock:outside requests are of the real world; they enter the clock one by one

package grid

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/listen"
)

// apiVersion is the only version of the data plane.
const apiVersion = "2018-01-01"

// Options changes who may publish. A nil *Options is the zero Options.
type Options struct {
	// Open lets everybody publish who names no key at all. A wrong key is refused
	// all the same.
	Open bool

	// StrictDates refuses tokens that have expired by the clock. By default one has
	// to have expired by the machine's time too: publishers make their tokens by
	// that, and a virtual clock may be years ahead of it.
	StrictDates bool
}

// Handler serves publishers of a Grid. Requests enter clk by its Inside.
func Handler(clk clock.Clock, g *eventgrid.Grid, opts *Options) http.Handler {
	h := &handler{clk: clk, grid: g}
	if opts != nil {
		h.opts = *opts
	}
	return h
}

type handler struct {
	clk  clock.Clock
	grid *eventgrid.Grid
	opts Options
}

// Clients are given the whole path or the part before /api/events, and some always
// append it.
var (
	eventsPath   = regexp.MustCompile(`(?i)^/([^/]+)(?:/api/events)*/?$`) // read only
	validatePath = regexp.MustCompile(`(?i)^/([^/]+)/validate/?$`)        // read only
)

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := listen.ReceiveBody(w, r)
	w.Header().Set("Api-Supported-Versions", apiVersion)
	w.Header().Set("X-Ms-Request-Id", uuid.NewString()) // names an answer in reports; nothing in the host depends on it
	var err error
	switch validate, events := validatePath.FindStringSubmatch(r.URL.Path), eventsPath.FindStringSubmatch(r.URL.Path); {
	case validate != nil && r.Method == http.MethodGet:
		if err = h.validate(r, validate[1]); err == nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, "The web hook is validated.\n")
		}
	case events == nil:
		err = &eventgrid.Error{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: "the path is /{topic}/api/events"}
	case r.Method == http.MethodOptions:
		err = h.describe(w, events[1])
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", allowed)
		err = &eventgrid.Error{Status: http.StatusMethodNotAllowed, Code: "MethodNotAllowed", Message: "events are published with POST"}
	default:
		if err = h.publish(r, in, events[1]); err == nil {
			w.WriteHeader(http.StatusOK)
		}
	}
	if err != nil {
		in.Skip(mostSkipped)
		writeError(w, err)
	}
}

// allowed are the methods for events.
const allowed = "OPTIONS, POST"

// describe answers the question what a topic takes. It needs no key.
//
// Source: the checks that AzureEventGridSimulator makes of Azure's own answers
// (src/postman), which has the names of the schemas too.
func (h *handler) describe(w http.ResponseWriter, name string) error {
	topic, err := h.grid.Topic(name)
	if err != nil {
		return err
	}
	schema := "EventGridEvent"
	if topic.InputSchema == eventgrid.CloudEventSchema {
		schema = "CloudEventV10"
	}
	w.Header().Set("Allow", allowed)
	w.Header().Set("Aeg-Input-Event-Schema", schema)
	w.WriteHeader(http.StatusOK)
	return nil
}

// publish reads, checks and publishes the events of a request.
func (h *handler) publish(r *http.Request, in *listen.Body, name string) error {
	topic, err := h.grid.Topic(name)
	if err != nil {
		return err
	}
	if err := h.authorize(r, topic); err != nil {
		return err
	}
	if v := r.URL.Query().Get("api-version"); v != "" && v != apiVersion {
		return badRequest("api-version " + strconv.Quote(v) + " is not supported; use " + apiVersion)
	}
	body, err := readBody(in)
	if err != nil {
		return err
	}
	events, err := parse(r, body, topic.InputSchema)
	if err != nil {
		return err
	}
	h.clk.Inside("publish events", func() { err = h.grid.Publish(h.grid.Context(), name, events...) })
	return err
}

// validate completes the validation of a web hook.
func (h *handler) validate(r *http.Request, topic string) (err error) {
	q := r.URL.Query()
	h.clk.Inside("validate web hook", func() { err = h.grid.Validate(topic, q.Get("subscription"), q.Get("id")) })
	return err
}

func badRequest(message string) error {
	return &eventgrid.Error{Status: http.StatusBadRequest, Code: "BadRequest", Message: message}
}

// writeError answers as the service does.
func writeError(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*eventgrid.Error](err)
	if !ok {
		e = &eventgrid.Error{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: err.Error()}
	}
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = e.Code, e.Message
	text, err := json.Marshal(body)
	if err != nil { // two texts
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(e.Status)
	_, _ = w.Write(text) // a caller that has gone needs no answer
}
