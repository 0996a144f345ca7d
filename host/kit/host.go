//clock:outside the callers of a kit are of the real world

package kit

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/host/worker"
)

// Host is the host of one test.
type Host struct {
	id, name string
	seed     uint64
	kit      *Kit
	session  *scenario.Session
	seat     *worker.Seat  // of an attached worker; nil: there is none
	opened   chan struct{} // closed when it has started, or cannot
	refused  error         // why it cannot; to be read when opened

	touched  atomic.Bool // the test has done something with it
	fresh    uint64      // number of the journal's last record when it had started
	key      string      // of its clock, for handlers
	sleepers *worker.Sleepers

	turn   turn             // who has it moves time, or calls the session
	last   uint64           // number of the record that the last wait returned; guarded by turn
	read   scenario.Reading // up to the record that the last wait returned; guarded by turn
	life   context.Context  // ends with the host; drives of others end with it
	leave  context.CancelFunc
	ending sync.Once
	unmet  []Failure // of the end

	ticks sync.WaitGroup // waits without a handler

	mu     sync.Mutex // guards:
	server *web.Server
	serves any // the run that it serves
	ended  bool
}

// starting is how long, in real time, an attached worker may take to connect.
const starting = 30 * time.Second

// open starts the host.
func (h *Host) open() {
	defer close(h.opened)
	h.turn.Lock()
	defer h.turn.Unlock()
	h.refused = failed(AppInvalid, h.session.Open())
	if refused, ok := h.refused.(*Refused); ok && strings.Contains(refused.Text, document.LocalFile) {
		refused.Hint = "a test gives what " + document.LocalFile + " does not have, or a clone without that file, in the settings of its host"
	}
	if h.refused == nil {
		h.fresh = h.session.Host().Journal().Len()
	}
}

// ready waits until the host has started.
func (h *Host) ready(ctx context.Context) error {
	limit := time.NewTimer(starting)
	defer limit.Stop()
	select {
	case <-h.opened:
		return h.refused
	default:
	}
	select {
	case <-h.opened:
		return h.refused
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
		return refuse(http.StatusGatewayTimeout, WorkerGone, "no worker has connected to %s as %q within %v", h.kit.port.Addr(), strings.SplitN(h.seat.ID(), ":", 3)[1], starting)
	}
}

// alone calls f for the only caller who may move time. Another one is refused.
func (h *Host) alone(ctx context.Context, f func() error) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	if !h.turn.TryLock() {
		return refuse(http.StatusConflict, Busy, "another call of this host moves its time, and has not ended").hinted("await one call before the next; what a handler calls while time is moved may only send and look")
	}
	defer h.turn.Unlock()
	if h.life.Err() != nil {
		return unknownHost(h.id)
	}
	return f()
}

// running is alone for what needs a host that is not dead.
func (h *Host) running(ctx context.Context, f func() error) error {
	return h.alone(ctx, func() error {
		if h.session.Crashed() {
			return refuse(http.StatusConflict, HostDown, "the host has crashed").hinted("start it again: POST /kit/hosts/{id}/start")
		}
		h.touched.Store(true)
		return f()
	})
}

// call calls the kit of the session; what it ends with is a refusal.
func (h *Host) call(f func()) error { return failed(StepFailed, h.session.Call(f)) }

// do does a step of a scenario.
func (h *Host) do(step map[string]any) error {
	list, faults := h.session.Do(step)
	if len(faults) > 0 {
		return invalid(BadRequest, faults)
	}
	return failed(StepFailed, list)
}

// end ends the host, once, and says what it has asked for and what has not come.
func (h *Host) end() []Failure {
	h.ending.Do(func() {
		h.mu.Lock()
		h.leave()
		h.mu.Unlock()
		if h.seat != nil {
			select {
			case <-h.opened:
			default:
				h.seat.Close() // the start waits for it
			}
		}
		<-h.opened
		h.mu.Lock()
		h.ended = true
		server := h.server
		h.mu.Unlock()
		h.ticks.Wait()
		h.takeTurn()
		defer h.turn.Unlock()
		if h.session != nil { // else it was refused before
			h.unmet = failures(h.session.End())
		}
		if server != nil {
			_ = server.Close()
		}
		if h.seat != nil {
			h.seat.Close()
		}
	})
	return h.unmet
}

// leaving is how long, in real time, the handlers that run may take once their host is to end.
const leaving = time.Second

// takeTurn takes the turn from who has it, whose handlers are given up when they do not return.
func (h *Host) takeTurn() {
	if h.turn.TryLock() {
		return
	}
	late := time.AfterFunc(leaving, func() {
		if h.session != nil && h.session.Host() != nil {
			h.session.Host().Abort()
		}
	})
	defer late.Stop()
	h.turn.Lock()
}

// act is how the control API reaches the host: deliveries that an operation starts run before
// it is answered, unless somebody moves time already, a handler's caller among them.
func (h *Host) act(name string, f func()) {
	if !h.turn.TryLock() {
		hosttest.ActBeside(h.session.Host(), name, f)
		return
	}
	defer h.turn.Unlock()
	done := false
	err := h.call(func() {
		h.session.Host().Act(name, func(context.Context) { f(); done = true })
	})
	if !done && err != nil {
		panic(err)
	}
}

// web is the server of the run that goes on.
func (h *Host) web() *web.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	run := h.session.Host().Host
	if h.serves != any(run) {
		if h.server != nil {
			_ = h.server.Close()
		}
		h.serves = run
		h.server = web.New(run, &web.Options{Faults: h.session.Host().Faults(), Turn: h.act})
	}
	return h.server
}

// control serves the control API of a host.
func (k *Kit) control(w http.ResponseWriter, r *http.Request) {
	h := k.host(r.PathValue("id"))
	if h == nil {
		answer(w, unknownHost(r.PathValue("id")))
		return
	}
	if err := h.ready(r.Context()); err != nil {
		answer(w, told(err))
		return
	}
	if r.Method != http.MethodGet {
		h.touched.Store(true)
	}
	own := r.Clone(r.Context())
	own.URL.Path = strings.TrimPrefix(r.URL.Path, Prefix+"/hosts/"+h.id)
	own.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, Prefix+"/hosts/"+h.id)
	own.RequestURI = own.URL.RequestURI()
	h.web().Handler().ServeHTTP(w, own)
}
