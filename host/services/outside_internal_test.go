package services

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

// said is the key of what a caller's context says.
type said struct{}

// elsewhere opens an account for each time that it is asked.
type elsewhere struct {
	Outside // there are no others
	clk     clock.Clock
	calls   []Call
}

func (e *elsewhere) Queues(_ appsettings.Connection, call Call) (queue.Account, error) {
	e.calls = append(e.calls, call)
	return storage.New(e.clk, nil), nil
}

// The same connection gives the same account outside. Its calls are made outside the
// clock, and the host learns from them whether the account is reached.
func TestAccountOutside(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	t.Cleanup(clk.Close)
	out := &elsewhere{clk: clk}
	c, told := connectionsOn(clk, out)
	conn := appsettings.Connection{Setting: "Far", Value: "AccountName=acme;AccountKey=a2V5"}
	first, err := c.Queues(conn)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Queues(conn); again != first || len(out.calls) != 1 {
		t.Errorf("a second account for the same connection, %v", err)
	}
	if other, err := c.Queues(appsettings.Connection{Setting: "Other", Value: conn.Value}); other == first || len(out.calls) != 2 {
		t.Errorf("one account for two connections, %v", err)
	}
	call := func(answer error) {
		clk.Do("call", func() {
			begun := context.WithValue(context.Background(), said{}, "by the caller")
			err := out.calls[0](begun, func(ctx context.Context) error {
				if ctx.Done() == nil || !clk.Sees(ctx) {
					t.Error("nothing ends the call")
				}
				if ctx.Value(said{}) != "by the caller" {
					t.Error("the value of the caller's context is lost")
				}
				clk.Inside("the world", func() {}) // waits for ever unless the call is outside
				return answer
			})
			if !errors.Is(err, answer) {
				t.Errorf("the call = %v, want %v", err, answer)
			}
		})
	}
	call(&bindings.UnreachableError{Err: errors.New("connection refused")})
	call(messaging.ErrClosed)
	var got []string
	for _, r := range told.Records() {
		got = append(got, string(r.Kind)+" "+r.Name)
	}
	call(bindings.ErrNotFound)
	for _, r := range told.Records()[len(got):] {
		got = append(got, "then "+string(r.Kind)+" "+r.Name)
	}
	if diff := cmp.Diff(got, []string{"service_unreachable Far", "then service_back Far"}); diff != "" {
		t.Errorf("told (-got +want):\n%s", diff)
	}
}

// connectionsOn are connections that lead outside, and the journal of their outages.
func connectionsOn(clk *clock.Virtual, out Outside) (*Connections, *journal.Journal) {
	told := journal.New(clk.Now, nil)
	wire, _ := clk.WithCancel(context.Background())
	return NewConnections(clk, nil, &ConnectionOptions{Outside: out, Wire: wire, Journal: told, Back: func() {}}), told
}
