package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

// emptyGrid removes everything from the embedded Event Grid, and gives it again what
// the app wants.
func (h *Host) emptyGrid() error {
	if err := h.embedded.EventGrid().Reset(); err != nil {
		return err
	}
	return h.restoreGrid()
}

// restoreGrid gives the embedded Event Grid what the app wants, after its state was
// replaced.
func (h *Host) restoreGrid() error {
	if h.gridApp.cancel != nil {
		h.gridApp.cancel()
	}
	h.gridApp = gridApp{}
	if g := h.current.Load(); g != nil {
		return h.applyGrid(g)
	}
	return nil
}

// gridTopic is a topic as host.json describes it.
type gridTopic struct {
	eventgrid.Topic
	Subscriptions []eventgrid.Subscription `json:"subscriptions"`
}

// gridApp is what the running app has asked Event Grid for.
type gridApp struct {
	cancel context.CancelFunc // of what is still tried
}

// applyGrid makes the embedded Event Grid have what the app describes: switches,
// topics and subscriptions. What the app before described and this one does not is
// removed, also when that was in another process; what was made by hand stays, and
// what has not changed keeps its events. Subscriptions that cannot be made
// yet, because a web hook does not answer or a container is missing, are tried
// again until they can.
func (h *Host) applyGrid(g *generation) error {
	sw := g.app.Switches
	rules := eventgrid.Rules{Schedule: eventgrid.Schedule(sw.EventGridSchedule), JitterPercent: sw.EventGridJitterPercent, Probation: sw.EventGridProbation}
	if h.opts.Predictable {
		rules.Probation = rules.Probation && sw.Explicit["eventGridProbation"]
		if !sw.Explicit["eventGridJitterPercent"] {
			rules.JitterPercent = 0
		}
	}
	// Events that were kept from before wait for this: what is to be done with them
	// is said first.
	defer h.embedded.EventGrid().Configure(rules)
	var topics []gridTopic
	if raw := g.app.Config.EventGrid.Topics; raw != nil {
		if err := json.Unmarshal(raw, &topics); err != nil {
			return fmt.Errorf("redeliver.eventGrid: %w", err)
		}
	}
	if h.gridApp.cancel != nil {
		h.gridApp.cancel()
	}
	var ctx context.Context
	ctx, h.gridApp.cancel = h.clk.WithCancel(h.root)
	for i := range topics {
		if t := &topics[i]; h.embedded.Account(t.Name) != nil {
			t.Resource = eventgrid.StorageResource(t.Name)
		}
	}
	topics = g.withBlobTopics(topics)
	h.declareTopics(ctx, topics)
	wanted := make([]eventgrid.Wanted, len(topics))
	for i, t := range topics {
		wanted[i] = eventgrid.Wanted{Topic: t.Topic, Subscriptions: t.Subscriptions}
	}
	h.embedded.EventGrid().Await(wanted) // before anybody can publish
	for _, t := range topics {
		if err := h.embedded.EventGrid().PutTopic(ctx, t.Topic); err != nil {
			h.gridFault(g, t.Name, err, 0)
			continue
		}
		for _, s := range t.Subscriptions {
			if s.Endpoint == "" {
				if _, err := h.embedded.EventGrid().Subscribe(ctx, t.Name, s); err == nil {
					continue
				}
			}
			h.group.Go("event subscription "+t.Name+"/"+s.Name, func() { h.subscribe(ctx, g, t.Name, s) })
		}
	}
	return nil
}

// declareTopics removes what an app described before and does not any more, with its
// events, and notes what this one describes.
func (h *Host) declareTopics(ctx context.Context, now []gridTopic) {
	next := make([]eventgrid.Declared, len(now))
	for i, t := range now {
		next[i].Topic = t.Name
		for _, s := range t.Subscriptions {
			next[i].Subscriptions = append(next[i].Subscriptions, s.Name)
		}
	}
	before := h.embedded.EventGrid().Declared()
	for _, old := range before {
		i := slices.IndexFunc(next, func(t eventgrid.Declared) bool { return strings.EqualFold(t.Topic, old.Topic) })
		if i < 0 {
			h.dropGrid(old.Topic, "", func() error { return h.embedded.EventGrid().DeleteTopic(ctx, old.Topic) })
			continue
		}
		for _, s := range old.Subscriptions {
			if !slices.ContainsFunc(next[i].Subscriptions, func(name string) bool { return strings.EqualFold(name, s) }) {
				h.dropGrid(old.Topic, s, func() error { return h.embedded.EventGrid().Unsubscribe(ctx, old.Topic, s) })
			}
		}
	}
	if len(before) == 0 && len(next) == 0 {
		return
	}
	if err := h.embedded.EventGrid().Declare(ctx, next); err != nil && ctx.Err() == nil {
		h.log.Warn().Err(err).Str("component", "eventgrid").Msg("what host.json describes was not noted")
	}
}

// dropGrid removes a topic or a subscription, and says how many events went with it.
func (h *Host) dropGrid(topic, subscription string, remove func() error) {
	events := len(h.embedded.EventGrid().Deliveries(topic, subscription))
	if remove() != nil {
		return // it is gone already
	}
	line := h.log.Info()
	if events > 0 {
		line = h.log.Warn()
	}
	if subscription != "" {
		topic += "/" + subscription
	}
	line.Str("component", "eventgrid").Str("source", topic).Int("events", events).Msg("removed, as host.json does not describe it any more")
}

// subscribe tries to make a subscription. A web hook is asked again after 2, 4, 8,
// ... s, at most every two minutes; as long as only the container for dead letters is
// missing, there is a look for it every 2 s, and at once when a container is made.
// Nobody waits for it, so it is no reason for time to jump.
func (h *Host) subscribe(ctx context.Context, g *generation, topic string, s eventgrid.Subscription) {
	const shortest, longest = 2 * time.Second, 2 * time.Minute
	for wait, said := shortest, ""; ; wait = min(2*wait, longest) {
		_, err := h.embedded.EventGrid().Subscribe(ctx, topic, s)
		if err == nil || ctx.Err() != nil {
			return
		}
		missing := errors.Is(err, eventgrid.ErrNoContainer)
		if missing || s.Endpoint == "" {
			wait = shortest
		}
		if err.Error() != said {
			said = err.Error()
			h.gridFault(g, topic+"/"+s.Name, err, wait)
		}
		if missing && h.failed.wait(ctx, h.clk.Now().Add(wait)) != nil || !missing && h.clk.Idle(ctx, wait) != nil {
			return
		}
	}
}

// gridFault records that a topic or a subscription of host.json cannot be made, and
// after which time it is tried again; 0: not before the next reload.
func (h *Host) gridFault(g *generation, name string, err error, again time.Duration) {
	h.journal.Append(journal.Record{
		Kind: journal.FunctionError, Generation: g.id, Source: name, Delay: again, HasDelay: again > 0,
		Message: "Event Grid cannot do what host.json says", Error: err.Error(),
	})
}

// ServeEventGrid answers a request to the Event Grid web hook of the named
// function: POST or OPTIONS /runtime/webhooks/eventgrid?functionName=NAME, whose
// key was checked. The answer of a function that does not exist, or is disabled, is
// 404, of a host that is not ready 503.
func (h *Host) ServeEventGrid(ctx context.Context, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	var resp *bindings.HTTPResponse
	h.clk.Inside("event grid request", func() {
		token, release := h.token(ctx)
		defer release()
		resp = h.serveEventGrid(token, function, req)
	})
	return resp
}

// serveEventGrid is ServeEventGrid inside the clock.
func (h *Host) serveEventGrid(ctx context.Context, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	return h.bring(ctx, func(gen *generation) (*bindings.HTTPResponse, error) {
		f := gen.function(function)
		if f == nil || f.events == nil || f.def.Disabled {
			return &bindings.HTTPResponse{StatusCode: http.StatusNotFound, Body: []byte("cannot find function: '" + function + "'")}, nil
		}
		return f.events.Serve(ctx, req)
	})
}

// functionEndpoint delivers events to a function of this host without a socket.
type functionEndpoint struct {
	host *Host
	name string
}

// Deliver implements eventgrid.Endpoint.
func (e functionEndpoint) Deliver(ctx context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	serve, hook := e.host.serveEventGrid, "eventgrid"
	if f := e.host.current.Load().function(e.name); f != nil {
		switch {
		case f.kind.Type == "blobTrigger" && onEventGrid(f.def.Trigger):
			serve, hook = e.host.serveBlobHook, "blobs"
		case f.events == nil:
			return nil, eventgrid.ErrInvalidFunction
		}
	}
	resp := serve(ctx, e.name, &bindings.HTTPRequest{
		Method: r.Method(), Header: r.Header(), Body: r.Body,
		URL: "http://localhost/runtime/webhooks/" + hook + "?functionName=" + url.QueryEscape(e.name),
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &eventgrid.Response{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
}

// eventGridOutput publishes events to a topic.
type eventGridOutput struct {
	b     *app.Binding
	host  *Host
	topic string
	key   string
}

func newEventGridOutput(f *function, b *app.Binding) (output, error) {
	o := &eventGridOutput{b: b, host: f.gen.host}
	settings := f.gen.app.Settings
	setting, endpoint := b.String("topicEndpointUri"), ""
	switch {
	case setting != "":
		endpoint = settings.Get(setting)
		o.key = settings.Get(b.String("topicKeySetting"))
	case b.Connection != "":
		setting = b.Connection
		if conn, ok := settings.Connection(b.Connection); ok {
			endpoint = services.Fields(conn)["topicendpointuri"]
		}
	default:
		return nil, fmt.Errorf("output binding %q: topicEndpointUri or connection is needed: the name of the setting with the topic's endpoint", b.Name)
	}
	if endpoint == "" {
		return nil, fmt.Errorf("output binding %q: setting %q with the topic's endpoint is missing", b.Name, setting)
	}
	var err error
	if o.topic, err = f.gen.host.connections.GridTopic(setting, endpoint); err != nil {
		return nil, fmt.Errorf("output binding %q: %w", b.Name, err)
	}
	return o, nil
}

func (o *eventGridOutput) binding() *app.Binding { return o.b }

// write publishes one event for each element of the value, all or none.
func (o *eventGridOutput) write(ctx context.Context, _ *delivery, v bindings.Value) error {
	bodies, err := bindings.MessagesFrom(v)
	if err != nil || len(bodies) == 0 {
		return err
	}
	topic, err := o.host.embedded.EventGrid().Topic(o.topic)
	if err != nil {
		return err
	}
	if o.key != "" && o.key != topic.Key {
		return fmt.Errorf("topic %q: the key in setting %q is not the topic's", o.topic, o.b.String("topicKeySetting"))
	}
	list := []byte{'['}
	for i, body := range bodies {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, body...)
	}
	events, err := eventgrid.ParseEvents(append(list, ']'), topic.InputSchema)
	if err != nil {
		return err
	}
	return o.host.embedded.EventGrid().Publish(ctx, o.topic, events...)
}
