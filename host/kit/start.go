package kit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"path/filepath"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/host/worker"
)

// StartHost starts a host. With attached it answers at once: the host is ready when the worker
// has connected and its functions are known (see Ready); without, when it has started.
type StartHost struct {
	ops.Op[Started] `route:"POST /hosts" status:"201" body:"json"`

	Name      string                     `json:"name,omitempty"`      // of the test
	App       string                     `json:"app,omitempty"`       // absolute path of the app's folder; empty: none
	Functions map[string]json.RawMessage `json:"functions,omitempty"` // as in a scenario; a handler may be {"attached": true}
	Host      map[string]any             `json:"host,omitempty"`      // laid over host.json
	Settings  map[string]string          `json:"settings,omitempty"`
	Set       []string                   `json:"set,omitempty"`      // switches, "name=value"
	Entities  map[string]any             `json:"entities,omitempty"` // as in a scenario
	Seed      *uint64                    `json:"seed,omitempty"`     // at most 9007199254740991; 1 unless it is there
	Start     string                     `json:"start,omitempty"`    // the time at which it begins; 2030-01-01 unless it is there
	Attached  bool                       `json:"attached,omitempty"` // a worker will connect, whose functions are run
	Ports     bool                       `json:"ports,omitempty"`    // listeners for SDKs, with the strings in the settings
	Instances bool                       `json:"instances,omitempty"`
}

// Started is a host.
type Started struct {
	ID          string               `json:"id"`
	Name        string               `json:"name,omitempty"`
	State       string               `json:"state"` // ready, or waiting for the worker
	Seed        uint64               `json:"seed"`
	Begins      *time.Time           `json:"begins,omitempty"`      // virtual
	Functions   []app.FunctionReport `json:"functions,omitempty"`   // with their policies, and the attempts and deliveries that they will have
	Worker      *Worker              `json:"worker,omitempty"`      // with attached
	Environment []string             `json:"environment,omitempty"` // that a worker process would have; of an attached worker
	Connections *Connections         `json:"connections,omitempty"` // with ports
	TookMS      float64              `json:"tookMs"`                // in real time
}

// Connections are where SDK clients find the services of a host with ports.
type Connections struct {
	Storage    string `json:"storage"` // a connection string
	Blobs      string `json:"blobs"`
	Queues     string `json:"queues"`
	ServiceBus string `json:"serviceBus"` // a connection string, of Event Hubs too
	EventGrid  string `json:"eventGrid"`
}

// Worker is where an attached worker connects, and what it says there.
type Worker struct {
	Address          string `json:"address"`
	ID               string `json:"id"`
	RequestID        string `json:"requestId"`
	MaxMessageLength int    `json:"maxMessageLength"`
}

// maxMessageLength is what the platform tells its workers.
const maxMessageLength = 2147483647

// mostSeed is the largest number that JSON has for all.
const mostSeed = 1<<53 - 1

// start makes a host.
func (in StartHost) start(ctx context.Context, k *Kit) (*Started, error) {
	begin := time.Now() //clock:outside how long it takes
	given, err := in.document()
	if err != nil {
		return nil, err
	}
	h := &Host{name: in.Name, seed: 1, kit: k, opened: make(chan struct{}), turn: make(turn, 1), key: rand.Text()} //clock:outside the caller waits
	h.sleepers = &worker.Sleepers{Address: "http://" + k.addr.String() + ofClock + h.key}
	h.life, h.leave = context.WithCancel(context.Background()) //clock:outside the caller's drives are of the real world
	if in.Seed != nil {
		h.seed = *in.Seed
	}
	if h.seed > mostSeed {
		return nil, refuse(http.StatusBadRequest, BadRequest, "seed %d: want at most %d, which every language's JSON can have", h.seed, int64(mostSeed))
	}
	if err := k.add(h); err != nil {
		return nil, err
	}
	o := &scenario.SessionOptions{Dir: in.App, Seed: h.seed, Instances: in.Instances, Workers: k.pool, Set: in.Set, Ports: in.Ports, Sleepers: h.sleepers}
	if in.Attached {
		h.seat = k.port.Seat(h.id)
		o.Attached = h.seat
	}
	session, faults := scenario.NewSession(given, o)
	if len(faults) > 0 {
		k.drop(h.id)
		h.refused = invalid(BadRequest, faults)
		close(h.opened) //clock:outside the caller waits
		h.end()
		return nil, h.refused
	}
	h.session = session
	if h.seat != nil {
		go h.open() //clock:outside Host.end waits for it
		out := &Started{ID: h.id, Name: h.name, State: "waiting", Seed: h.seed, TookMS: since(begin)}
		out.Worker = &Worker{Address: k.port.Addr().String(), ID: h.seat.ID(), RequestID: "start-" + h.id, MaxMessageLength: maxMessageLength}
		return out, nil
	}
	h.open()
	if h.refused != nil {
		k.drop(h.id)
		h.end()
		return nil, h.refused
	}
	out := h.started()
	out.TookMS = since(begin)
	return out, nil
}

func since(begin time.Time) float64 {
	return milliseconds(time.Since(begin)) //clock:outside how long it takes
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// started describes a host that runs.
func (h *Host) started() *Started {
	begins := tick(h.session.Begins())
	out := &Started{ID: h.id, Name: h.name, State: "ready", Seed: h.seed, Begins: &begins}
	if h.seat != nil {
		out.Environment = h.seat.Environment()
	}
	if at := h.session.Host().Endpoints(); at.Storage != "" {
		out.Connections = &Connections{at.Storage, at.BlobURL, at.QueueURL, at.ServiceBus, at.EventGrid}
	}
	if a := h.session.Host().App(); a != nil {
		out.Functions = app.Check(a).Functions
	}
	return out
}

// document is the scenario that says the same.
func (in StartHost) document() (map[string]any, error) {
	given := map[string]any{}
	if in.App != "" {
		if !filepath.IsAbs(in.App) {
			return nil, refuse(http.StatusBadRequest, BadRequest, "app %q is a relative path: the kit does not know from which folder", in.App)
		}
		given["app"] = "."
	}
	for name, value := range map[string]any{"host": in.Host, "settings": in.Settings, "entities": in.Entities, "start": in.Start, "name": in.Name} {
		switch value := value.(type) {
		case map[string]any:
			if value != nil {
				given[name] = value
			}
		case map[string]string:
			if value != nil {
				given[name] = value
			}
		case string:
			if value != "" {
				given[name] = value
			}
		}
	}
	functions := map[string]any{}
	for name, text := range in.Functions {
		var f map[string]any
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, refuse(http.StatusBadRequest, BadRequest, "functions.%s is no object", name)
		}
		if list, ok := f["handler"].([]any); ok && len(list) == 0 {
			return nil, refuse(http.StatusBadRequest, BadRequest, "functions.%s.handler is an empty list: want one action or more", name)
		}
		if handler, ok := f["handler"].(map[string]any); ok && handler["attached"] != nil {
			if handler["attached"] != true || len(handler) > 1 || !in.Attached {
				return nil, refuse(http.StatusBadRequest, BadRequest, `functions.%s.handler: {"attached": true} stands alone, in a host with "attached": true`, name)
			}
			delete(f, "handler")
		}
		functions[name] = f
	}
	if len(functions) > 0 {
		given["functions"] = functions
	}
	if in.App == "" && len(functions) == 0 && !in.Attached {
		return nil, refuse(http.StatusBadRequest, BadRequest, "the host has no functions: give it app, functions or attached")
	}
	return given, nil
}

// Ready waits until a host is ready: an attached worker has connected, and its functions are
// known. After 30 seconds of real time it is refused with worker_missing.
type Ready struct {
	ops.Op[*Started] `route:"POST /hosts/{id}/ready"`

	ID string `path:"id"`
}

// Do implements the operation.
func (in Ready) Do(ctx context.Context, h *Host) (*Started, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	return h.started(), nil
}

// EndHost ends a host. What was asked for and has not come (a fault that nothing has met, a
// crash at a point that no delivery has come to) is told.
type EndHost struct {
	ops.Op[Ended] `route:"DELETE /hosts/{id}"`

	ID string `path:"id"`
}

// Ended is what is left of a host.
type Ended struct {
	Failures []Failure `json:"failures,omitempty"`
}

// Do implements the operation.
func (in EndHost) Do(_ context.Context, h *Host) (Ended, error) {
	h.kit.drop(h.id)
	return Ended{h.end()}, nil
}
