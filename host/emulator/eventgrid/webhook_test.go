package eventgrid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/listen/listentest"
)

// hookBench is a Grid whose web hooks are real.
type hookBench struct {
	testing.TB
	clk  *clock.Virtual
	grid *eventgrid.Grid

	mu       sync.Mutex
	outcomes []string
}

// newHookBench makes one whose clock waits in real time, at most for patience, for
// what is out.
func newHookBench(tb testing.TB, patience time.Duration) *hookBench {
	b := &hookBench{TB: tb, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true, Patience: patience})}
	b.grid = eventgrid.New(b.clk, &eventgrid.Options{Record: func(r journal.Record) {
		if r.Kind == journal.EventAttempted {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.outcomes = append(b.outcomes, r.Status)
		}
	}})
	tb.Cleanup(b.grid.Close)
	b.clk.Do("create", func() {
		if err := b.grid.CreateTopic(context.Background(), eventgrid.Topic{Name: "orders"}); err != nil {
			tb.Fatal(err)
		}
	})
	return b
}

// subscribe makes a subscription to a web hook, from outside the clock as a person
// would.
func (b *hookBench) subscribe(url string, schema eventgrid.Schema) (state eventgrid.State, err error) {
	b.clk.Do("subscribe", func() {
		state, err = b.grid.Subscribe(context.Background(), "orders", eventgrid.Subscription{Name: "hook", Endpoint: url, EventDeliverySchema: schema, MaxDeliveryAttempts: 1})
	})
	return state, err
}

func (b *hookBench) publish() {
	b.Helper()
	events, err := eventgrid.ParseEvents([]byte("["+eventJSON("e")+"]"), eventgrid.EventGridSchema)
	if err != nil {
		b.Fatal(err)
	}
	b.clk.Do("publish", func() {
		if err := b.grid.Publish(context.Background(), "orders", events...); err != nil {
			b.Error(err)
		}
	})
}

// validating answers the handshake and leaves the rest to h.
func validating(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("aeg-event-type") != "SubscriptionValidation" {
			h(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(400)
			return
		}
		resp := handshake(&eventgrid.Request{Type: eventgrid.SubscriptionValidation, Body: body})
		_, _ = w.Write(resp.Body)
	}
}

// Answers of web hooks, and connections that they cut.
func TestWebHook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"accepts":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "Delivered"},
		"fails":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "Busy"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "Aborted"},
		"answers 1 MiB": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 1<<20))
		}, "Delivered"},
		"answers 10 MiB": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 10<<20))
		}, "Delivered"},
		"closes": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "SocketError"},
		"closes in the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("x"))
			panic(http.ErrAbortHandler)
		}, "SocketError"},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server looks for the end of the connection from now on
			<-r.Context().Done()               //clock:outside the web hook is of the real world
		}, "TimedOut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(validating(test.answer))
			defer server.Close()
			patience := 10 * time.Second
			if name == "never answers" {
				patience = 500 * time.Millisecond
			}
			b := newHookBench(t, patience)
			if state, err := b.subscribe(server.URL, ""); state != eventgrid.Active || err != nil {
				t.Fatalf("subscribe: %s, %v", state, err)
			}
			b.publish()
			b.clk.Run(48 * time.Hour)
			if diff := cmp.Diff([]string{test.want}, b.outcomes); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// Body and headers arrive at a web hook over TLS.
func TestWebHookRequest(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewTLSServer(validating(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	b := newHookBench(t, 10*time.Second)
	if _, err := b.subscribe(server.URL+"/hook?a=b", ""); err != nil {
		t.Fatal(err)
	}
	b.publish()
	if got == nil || got.Method != "POST" || got.URL.String() != "/hook?a=b" || !json.Valid(body) {
		t.Fatalf("request %+v %s", got, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "aeg-event-type": "Notification", "aeg-subscription-name": "HOOK",
		"aeg-delivery-count": "0", "aeg-data-version": "1.0", "aeg-metadata-version": "1",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("header %s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
}

// The handshake of the Event Grid schema: at once by the answer, or by the
// validation URL within five minutes. Until then nothing is delivered.
func TestValidation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string // %s is the code
		want   eventgrid.State
	}{
		"code":       {200, `{"validationResponse":"%s"}`, eventgrid.Active},
		"wrong code": {200, `{"validationResponse":"x%s"}`, eventgrid.AwaitingManualAction},
		"202":        {202, `{"validationResponse":"%s"}`, eventgrid.AwaitingManualAction},
		"no JSON":    {200, `%s`, eventgrid.AwaitingManualAction},
		"failure":    {500, `%s`, eventgrid.AwaitingManualAction},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " late=", late), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, eventgrid.Rules{})
				b.grid.ServedAt("http://127.0.0.1:60101")
				var link *url.URL
				b.answer = func(_ context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
					if r.Type != eventgrid.SubscriptionValidation {
						return &eventgrid.Response{Status: 200}, nil
					}
					var events []struct {
						EventType string
						Data      struct{ ValidationCode, ValidationURL string }
					}
					if err := json.Unmarshal(r.Body, &events); err != nil || len(events) != 1 || events[0].EventType != "Microsoft.EventGrid.SubscriptionValidationEvent" {
						t.Errorf("handshake %s: %v", r.Body, err)
						return nil, errRefused
					}
					link, _ = url.Parse(events[0].Data.ValidationURL)
					return &eventgrid.Response{Status: test.status, Body: fmt.Appendf(nil, test.body, events[0].Data.ValidationCode)}, nil
				}
				var state eventgrid.State
				b.do(func(ctx context.Context) (err error) {
					state, err = b.grid.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Endpoint: "http://localhost:1/"})
					return err
				})
				if state != test.want {
					t.Fatalf("state %s, want %s", state, test.want)
				}
				if state == eventgrid.Active {
					return
				}
				b.calls = nil
				b.publish("too soon")
				wait := eventgrid.ValidationLimit
				if late {
					wait++
				}
				b.clk.Advance(wait)
				if link.Path != "/orders/validate" || link.Host != "127.0.0.1:60101" {
					t.Errorf("validation URL %s", link)
				}
				err := b.try(func(context.Context) error {
					return b.grid.Validate("orders", link.Query().Get("subscription"), link.Query().Get("id"))
				})
				b.publish("e")
				if late {
					if err == nil || b.grid.Topics()[0].Subscriptions[0].State != eventgrid.ValidationFailed || len(b.calls) != 0 {
						t.Errorf("after five minutes: %v, %+v, %d requests", err, b.grid.Topics(), len(b.calls))
					}
				} else if err != nil || len(b.calls) != 1 || !strings.Contains(b.calls[0].Body, `"id":"e"`) {
					t.Errorf("validated: %v, requests %v", err, b.calls)
				}
			})
		}
	}
}

// The handshake of CloudEvents, and web hooks that do not answer at all.
func TestHandshakeOfCloudEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer *eventgrid.Response // nil: none
		want   string              // of the error; empty: none
	}{
		"consent":        {&eventgrid.Response{Status: 200, Header: http.Header{"Webhook-Allowed-Origin": {eventgrid.Origin}}}, ""},
		"for everybody":  {&eventgrid.Response{Status: 200, Header: http.Header{"Webhook-Allowed-Origin": {"*"}}}, ""},
		"for others":     {&eventgrid.Response{Status: 200, Header: http.Header{"Webhook-Allowed-Origin": {"example.com"}}}, "Allowed-Origin"},
		"without header": {&eventgrid.Response{Status: 200}, "Allowed-Origin"},
		"405":            {&eventgrid.Response{Status: 405}, "it answered 405"},
		"no answer":      {nil, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = func(_ context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
				if r.Method() != "OPTIONS" || r.Header().Get("WebHook-Request-Origin") != eventgrid.Origin {
					t.Errorf("handshake %s %v", r.Method(), r.Header())
				}
				if test.answer == nil {
					return nil, errRefused
				}
				return test.answer, nil
			}
			err := b.try(func(ctx context.Context) error {
				_, err := b.grid.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Endpoint: "http://localhost:1/", EventDeliverySchema: eventgrid.CloudEventSchema})
				return err
			})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// A web hook that does not answer the handshake in 30 s is refused, as is one that
// is not there.
func TestHandshakeWithoutAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = slow(b, time.Hour)
	var err error
	done := false
	b.clk.Do("subscribe", func() {
		clock.NewGroup(b.clk, 0).Go("subscribe", func() {
			_, err = b.grid.Subscribe(context.Background(), "orders", eventgrid.Subscription{Name: "s", Endpoint: "http://localhost:1/"})
			done = true
		})
	})
	if moved := b.clk.Run(time.Hour); moved != 30*time.Second || !done || err == nil {
		t.Errorf("refused %v after %s: %v", done, moved, err)
	}

	address := "127.0.0.1:" + strconv.Itoa(listentest.FreePort())
	h := newHookBench(t, 10*time.Second)
	_, err = h.subscribe("http://"+address+"/", "")
	if e, ok := errors.AsType[*eventgrid.Error](err); !ok || e.Status != 400 {
		t.Errorf("without a listener: %v, want 400", err)
	}
}

// A web hook that never answers keeps nothing from another at the same port, however
// many requests hang.
func TestHangingWebHookBesideAnother(t *testing.T) {
	t.Parallel()
	const events = 100
	release, served := make(chan struct{}), make(chan struct{}, events)
	server := httptest.NewServer(validating(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-release
			return
		}
		served <- struct{}{}
	}))
	defer server.Close()
	g := eventgrid.New(clock.System(), nil)
	defer g.Close()
	defer close(release)
	ctx := context.Background()
	if err := g.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hangs", "well"} {
		if state, err := g.Subscribe(ctx, "orders", eventgrid.Subscription{Name: name, Endpoint: server.URL + "/" + name}); err != nil || state != eventgrid.Active {
			t.Fatal(state, err)
		}
	}
	for range events {
		list, err := eventgrid.ParseEvents([]byte("["+eventJSON("e")+"]"), eventgrid.EventGridSchema)
		if err == nil {
			err = g.Publish(ctx, "orders", list...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range events {
		<-served
	}
}
