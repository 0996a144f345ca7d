package eventgrid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// bench is a Grid with an account for dead letters and in-process endpoints.
type bench struct {
	testing.TB
	clk     *clock.Virtual
	grid    *eventgrid.Grid
	storage *storage.Storage
	fault   func(storage.FaultPoint) error
	answer  func(ctx context.Context, url string, r *eventgrid.Request) (*eventgrid.Response, error)
	calls   []call
	records []journal.Record
}

// call is one request that an endpoint got.
type call struct {
	At   time.Duration // since start
	To   string
	Body string
	r    *eventgrid.Request
}

type scripted struct {
	b   *bench
	url string
}

func (s scripted) Deliver(ctx context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	s.b.calls = append(s.b.calls, call{s.b.clk.Now().Sub(start), s.url, string(r.Body), r})
	return s.b.answer(ctx, s.url, r)
}

// newBench makes a Grid with the topic "orders". Endpoints answer with what answer
// says; they are functions, or web hooks whose handshake succeeds.
func newBench(tb testing.TB, rules eventgrid.Rules) *bench {
	b := &bench{TB: tb, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	b.storage = storage.New(b.clk, &storage.Options{Fault: func(p storage.FaultPoint) error {
		if b.fault == nil {
			return nil
		}
		return b.fault(p)
	}})
	endpoint := func(url string) eventgrid.Endpoint { return scripted{b, url} }
	b.grid = eventgrid.New(b.clk, &eventgrid.Options{
		Rules: rules, Function: endpoint, WebHook: endpoint,
		Record: func(r journal.Record) {
			r.Time = b.clk.Now()
			b.records = append(b.records, r)
		},
		Blobs: func(account string) blob.Account {
			if account == "" || account == "devstoreaccount1" {
				return b.storage
			}
			return nil
		},
	})
	tb.Cleanup(b.grid.Close)
	b.answer = status(200)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.do(func(ctx context.Context) error {
		_, err := b.storage.Container("dead").Create(ctx, nil)
		return err
	})
	return b
}

func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	b.clk.Do("test", func() {
		if err := f(context.Background()); err != nil {
			b.Fatal(err)
		}
	})
}

func (b *bench) try(f func(ctx context.Context) error) (err error) {
	b.clk.Do("test", func() { err = f(context.Background()) })
	return err
}

func (b *bench) subscribe(s eventgrid.Subscription) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		_, err := b.grid.Subscribe(ctx, "orders", s)
		return err
	})
}

func eventJSON(id string) string {
	return `{"id":"` + id + `","subject":"/orders/7","eventType":"Shop.Ordered","eventTime":"2029-12-31T23:59:59Z","data":{"amount":7},"dataVersion":"1.0"}`
}

func (b *bench) publish(ids ...string) {
	b.Helper()
	var list []string
	for _, id := range ids {
		list = append(list, eventJSON(id))
	}
	b.publishTo("orders", "["+strings.Join(list, ",")+"]", eventgrid.EventGridSchema)
}

func (b *bench) publishTo(topic, body string, schema eventgrid.Schema) {
	b.Helper()
	events, err := eventgrid.ParseEvents([]byte(body), schema)
	if err != nil {
		b.Fatal(err)
	}
	b.do(func(ctx context.Context) error { return b.grid.Publish(ctx, topic, events...) })
}

// times are the times of the requests, since start.
func (b *bench) times() []string {
	var out []string
	for _, c := range b.calls {
		out = append(out, c.At.String())
	}
	return out
}

func (b *bench) trace(kinds ...journal.Kind) []string {
	var out []string
	for _, r := range b.records {
		if slices.Contains(kinds, r.Kind) {
			out = append(out, strings.TrimSpace(fmt.Sprintln(r.Time.Sub(start), r.Kind, r.MessageID, r.DeliveryCount, r.Status+r.Cause, r.Message)))
		}
	}
	return out
}

// blobs returns the contents of a container by name.
func (b *bench) blobs(container string) map[string]string {
	b.Helper()
	out := map[string]string{}
	b.do(func(ctx context.Context) error {
		page, err := b.storage.Container(container).Blobs(ctx, nil)
		if err != nil {
			return err
		}
		for _, item := range page.Blobs {
			d, err := b.storage.Container(container).Blob(item.Name).Get(ctx, nil)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(d.Body)
			if err != nil {
				return err
			}
			_ = d.Body.Close()
			out[item.Name] = string(text)
		}
		return nil
	})
	return out
}

type answerFunc = func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error)

func status(code int) answerFunc {
	return func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) {
		return &eventgrid.Response{Status: code}, nil
	}
}

// slow answers 200 after a time.
func slow(b *bench, d time.Duration) answerFunc {
	return func(ctx context.Context, _ string, _ *eventgrid.Request) (*eventgrid.Response, error) {
		if err := b.clk.Sleep(ctx, d); err != nil {
			return nil, err
		}
		return &eventgrid.Response{Status: 200}, nil
	}
}

var errRefused = errors.New("connection refused")

const day = 48 * time.Hour
