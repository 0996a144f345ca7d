package eventgrid_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// asked keeps the validation event that it is sent, and answers it.
type asked struct{ id, code string }

func (a *asked) Deliver(_ context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	var events []struct {
		ID   string
		Data struct{ ValidationCode string }
	}
	if err := json.Unmarshal(r.Body, &events); err != nil {
		return nil, err
	}
	a.id, a.code = events[0].ID, events[0].Data.ValidationCode
	return handshake(r), nil
}

// Identifiers come from the seed, kept in a store or not, after a Reset from the beginning; the
// first two make the key of the topic.
func TestIdentifiersOfASeed(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		for _, seed := range []uint64{0, 7} {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			hook := &asked{}
			opts := &eventgrid.Options{Seed: seed, WebHook: func(string) eventgrid.Endpoint { return hook }}
			var grid *eventgrid.Grid
			if kept {
				db, err := store.OpenMemory(nil)
				if err == nil {
					t.Cleanup(func() { db.Close() })
					grid, err = eventgrid.Open(clk, db, opts)
				}
				if err != nil {
					t.Fatal(err)
				}
			} else {
				grid = eventgrid.New(clk, opts)
			}
			t.Cleanup(grid.Close)
			for range 2 {
				clk.Do("subscribe", func() {
					err := grid.CreateTopic(context.Background(), eventgrid.Topic{Name: "orders"})
					if err == nil {
						_, err = grid.Subscribe(context.Background(), "orders", eventgrid.Subscription{Name: "hook", Endpoint: "http://127.0.0.1:1/hook"})
					}
					if err != nil {
						t.Error(err)
					}
				})
				if want := strings.ToUpper(seeded.GUID(seed, 3).String()); hook.code != want {
					t.Errorf("kept %v, seed %d: the validation code is %s, want %s", kept, seed, hook.code, want)
				}
				if want := seeded.GUID(seed, 4).String(); hook.id != want {
					t.Errorf("kept %v, seed %d: the event's identifier is %s, want %s", kept, seed, hook.id, want)
				}
				clk.Do("reset", func() {
					if err := grid.Reset(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
