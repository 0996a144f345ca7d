package httptrigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/httptrigger"
	"github.com/redeliver/redeliver/triggers/serving"
)

// A stage runs one listener and takes down what happens, one line each, with the
// seconds since the start.
type stage struct {
	clk      clock.Clock
	v        *clock.Virtual // nil on the system clock
	start    time.Time
	listener *httptrigger.Listener
	group    *clock.Group
	cancel   context.CancelFunc
	handle   func(ctx context.Context, ev *triggers.Event) triggers.Result
	draining bool

	mu     sync.Mutex
	lines  []string
	events []*triggers.Event
}

func newStage(t *testing.T, clk clock.Clock) *stage {
	t.Helper()
	s := &stage{clk: clk, start: clk.Now(), listener: httptrigger.New(clk), group: clock.NewGroup(clk, 0)}
	s.v, _ = clk.(*clock.Virtual)
	t.Cleanup(func() { clk.Inside("wait", s.group.Wait) })
	return s
}

func virtual() *clock.Virtual {
	return clock.NewVirtual(time.Date(2024, 3, 15, 10, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})
}

func (s *stage) run(t *testing.T) {
	t.Helper()
	s.clk.Inside("start", func() {
		var ctx context.Context
		ctx, s.cancel = s.clk.WithCancel(context.Background())
		s.group.Go("listener", func() {
			err := s.listener.Run(ctx, s)
			s.note("ended %v", err)
		})
	})
	t.Cleanup(s.stop)
	s.settle()
}

func (s *stage) settle() {
	if s.v != nil {
		s.v.Advance(0)
	}
}

func (s *stage) stop() {
	s.clk.Inside("stop", s.cancel)
	s.settle()
}

// serve sends a request in a goroutine of its own.
func (s *stage) serve(name string, req *bindings.HTTPRequest) context.CancelFunc {
	var cancel context.CancelFunc
	s.clk.Inside("request", func() {
		var ctx context.Context
		ctx, cancel = s.clk.WithCancel(context.Background())
		s.group.Go(name, func() {
			defer cancel()
			res, err := s.listener.Serve(ctx, req)
			switch {
			case err != nil:
				s.note("%s refused: %v", name, err)
			default:
				s.note("%s %d", name, res.StatusCode)
			}
		})
	})
	s.settle()
	return func() { s.clk.Inside("hang up", cancel); s.settle() }
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if s.v != nil {
		line = fmt.Sprintf("%gs ", s.clk.Now().Sub(s.start).Seconds()) + line
	}
	s.lines = append(s.lines, line)
}

func (s *stage) check(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(s.lines, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	s.lines = nil
}

func (s *stage) Handle(ctx context.Context, ev *triggers.Event) triggers.Result {
	s.mu.Lock()
	s.events = append(s.events, ev)
	s.mu.Unlock()
	if s.handle == nil {
		return triggers.Result{Attempts: 1}
	}
	return s.handle(ctx, ev)
}

func (s *stage) Settled(ev *triggers.Event, set triggers.Settlement) {
	s.note("%s %s", ev.Source, set.Decision)
}

func (s *stage) Gate() triggers.Gate                         { return s }
func (s *stage) Try() (time.Duration, bool)                  { return 0, true }
func (s *stage) Admit(_ context.Context, n int) (int, error) { return n, nil }
func (s *stage) WhileAdmitted(ctx context.Context) (context.Context, func()) {
	return ctx, func() {}
}
func (s *stage) Skip(*triggers.Event) {}
func (s *stage) Unused(int)           {}
func (s *stage) Draining() bool       { return s.draining }
func (s *stage) BeginAgain(_ context.Context, cause error) error {
	return cause
}
func (s *stage) Replaced() bool { return false }

// retrying is a handler that fails at once and then waits d for its next try,
// over and over, until its token ends.
func (s *stage) retrying(d time.Duration) func(context.Context, *triggers.Event) triggers.Result {
	return func(ctx context.Context, _ *triggers.Event) triggers.Result {
		for attempt := 1; ; attempt++ {
			if err := s.clk.Sleep(ctx, d); err != nil {
				return triggers.Result{Attempts: attempt, Err: fmt.Errorf("attempt %d", attempt), Cancelled: true}
			}
		}
	}
}

func get(url string) *bindings.HTTPRequest { return &bindings.HTTPRequest{Method: "GET", URL: url} }

func TestServe(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.serve("early", get("http://localhost/api/a"))
	s.check(t) // it waits for the listener
	s.run(t)
	s.check(t, "0s GET /api/a responded", "0s early 204")
	s.serve("good", get("http://localhost/api/a%20b?x=1"))
	s.check(t, "0s GET /api/a%20b responded", "0s good 204")
	s.handle = func(context.Context, *triggers.Event) triggers.Result {
		return triggers.Result{Attempts: 3, Err: errors.New("no luck")}
	}
	s.serve("bad", get("http://localhost/api/a"))
	s.check(t, "0s GET /api/a responded", "0s bad 500")
	s.stop()
	s.serve("late", get("http://localhost/api/a"))
	s.check(t, "0s ended <nil>", "0s late refused: "+serving.ErrNotRunning.Error())
}

func TestServeEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.run(t)
	req := &bindings.HTTPRequest{
		Method: "POST", URL: "http://localhost:7071/api/orders/7?code=secret&name=query&Color=red&color=blue&q=1&q=2",
		Header: http.Header{"X-Id": {"a", "b"}},
		Params: map[string]string{"id": "7"},
		Body:   []byte(`{"id":"body","name":"body","Amount":5,"nested":{"a":1},"QUERY":"mine"}`),
	}
	s.serve("r", req)
	ev := s.events[0]
	if !ev.CallerWaits || ev.Batch || len(ev.Messages) != 1 || ev.Source != "POST /api/orders/7" || ev.DeliveryCount != 0 {
		t.Errorf("event = %+v", ev)
	}
	if v := ev.Messages[0].Value; v.Kind != bindings.Request || v.HTTP != req {
		t.Errorf("value = %+v, want the request", v)
	}
	want := map[string]any{
		"id": "7", "name": "query", "color": "blue", "q": "2", "Amount": "5", "nested": json.RawMessage(`{"a":1}`),
		"Headers": bindings.Parameters{{Name: "X-Id", Value: "a,b"}},
		"QUERY":   "mine",
	}
	if diff := cmp.Diff(ev.Messages[0].Metadata, want); diff != "" {
		t.Errorf("binding data (-got +want):\n%s", diff)
	}
	for template, want := range map[string]string{"{headers.x-id}": "a,b", "{q}": "2", "{id}": "7", "{amount}": "5"} {
		tpl, err := bindings.ParseTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tpl.Resolve(&bindings.BindingData{Values: ev.Messages[0].Metadata})
		if err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", template, got, err, want)
		}
	}
}

// A request without such names of its own has its parameters in Query.
func TestQueryInExpressions(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.run(t)
	s.serve("r", get("http://localhost/api/a?q=1&q=2"))
	want := map[string]any{"q": "2", "Headers": bindings.Parameters(nil), "Query": bindings.Parameters{{Name: "q", Value: "2"}}}
	if diff := cmp.Diff(s.events[0].Messages[0].Metadata, want); diff != "" {
		t.Errorf("binding data (-got +want):\n%s", diff)
	}
}

// A caller that hangs up ends its own loop and no other (2.6).
func TestServeCallerHangsUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.handle = s.retrying(time.Minute)
	s.run(t)
	hangUp := s.serve("a", get("http://localhost/a"))
	other := s.serve("b", get("http://localhost/b"))
	s.v.Advance(90 * time.Second)
	hangUp()
	s.check(t, "90s GET /a responded", "90s a 500")
	other()
	s.check(t, "90s GET /b responded", "90s b 500")
}

// Calls keep their loop for ten seconds after a stop, then end with the last
// failure (D-14, 7.3); nothing new is taken meanwhile.
func TestStopLeavesTenSeconds(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.handle = s.retrying(4 * time.Second)
	s.run(t)
	s.serve("a", get("http://localhost/a"))
	s.serve("b", get("http://localhost/b"))
	s.v.Advance(time.Second)
	s.stop()
	s.serve("c", get("http://localhost/c"))
	s.check(t, "1s c refused: "+serving.ErrNotRunning.Error())
	s.v.Advance(10*time.Second - time.Nanosecond)
	s.check(t)
	s.v.Advance(time.Nanosecond)
	s.check(t, "11s GET /a responded", "11s a 500", "11s GET /b responded", "11s b 500", "11s ended <nil>")
}

// A stop ends as soon as the last call does; a running attempt is waited for.
func TestStopWaitsForCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		takes time.Duration
		want  []string
	}{
		{3 * time.Second, []string{"3s GET /a responded", "3s a 204", "3s ended <nil>"}},
		{25 * time.Second, []string{"25s GET /a responded", "25s a 204", "25s ended <nil>"}},
	} {
		t.Run(tt.takes.String(), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, virtual())
			s.handle = func(ctx context.Context, _ *triggers.Event) triggers.Result {
				if err := s.clk.Sleep(context.WithoutCancel(ctx), tt.takes); err != nil {
					t.Error(err)
				}
				return triggers.Result{Attempts: 1}
			}
			s.run(t)
			s.serve("a", get("http://localhost/a"))
			s.stop()
			s.v.Run(time.Hour)
			s.check(t, tt.want...)
		})
	}
}

// A drain leaves HTTP calls their token: loops run to their end (7.3).
func TestDrainLeavesLoops(t *testing.T) {
	t.Parallel()
	s := newStage(t, virtual())
	s.draining = true
	s.handle = s.retrying(time.Minute)
	s.run(t)
	hangUp := s.serve("a", get("http://localhost/a"))
	s.stop()
	s.v.Advance(time.Hour + time.Second)
	s.check(t)
	hangUp()
	s.check(t, "3601s GET /a responded", "3601s a 500", "3601s ended <nil>")
}

func TestServeOnSystemClock(t *testing.T) {
	t.Parallel()
	s := newStage(t, clock.System())
	begun := make(chan struct{}, 8)
	s.handle = func(ctx context.Context, _ *triggers.Event) triggers.Result {
		begun <- struct{}{}
		err := s.clk.Sleep(ctx, time.Hour)
		return triggers.Result{Attempts: 1, Err: err, Cancelled: true}
	}
	ctx, cancel := s.clk.WithCancel(context.Background())
	up := make(chan struct{})
	s.group.Go("listener", func() {
		close(up)
		if err := s.listener.Run(ctx, s); err != nil {
			t.Error(err)
		}
	})
	<-up
	var hangUps []context.CancelFunc
	for range 4 {
		caller, hangUp := s.clk.WithCancel(context.Background())
		hangUps = append(hangUps, hangUp)
		s.group.Go("call", func() {
			if _, err := s.listener.Serve(caller, get("http://localhost/a")); err != nil {
				t.Error(err)
			}
		})
	}
	for range 4 {
		<-begun
	}
	cancel()
	for _, hangUp := range hangUps {
		hangUp()
	}
	s.group.Wait()
	if n := len(s.lines); n != 4 {
		t.Errorf("%d settlements, want 4: %q", n, s.lines)
	}
}
