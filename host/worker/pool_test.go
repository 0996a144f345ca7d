//clock:outside real processes

package worker_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/worker"
)

// borrowers are hosts, each with a clock of its own, that have processes of one pool one
// after the other.
type borrowers struct {
	*testing.T
	pool *worker.Pool
	spec worker.Spec
}

// lend runs a test with a pool, on both transports.
func lend(t *testing.T, odd string, test func(b *borrowers)) {
	for _, transport := range []string{"grpc", "lines"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			b := &borrowers{T: t, pool: worker.NewPool(1), spec: spec(transport + " " + odd)}
			b.spec.Pool = b.pool
			defer b.pool.Close()
			test(b)
		})
	}
}

// borrow runs one host to its end.
func (l *borrowers) borrow(test func(b *bench)) {
	v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true, Patience: time.Millisecond})
	defer v.Close()
	v.Auto()
	runWith(l.T, v, l.spec, func(*bench, *worker.Spec) {}, test)
}

// pid is the process that serves a host.
func (b *bench) pid() string {
	resp, _, err := b.invoke("PID", bindings.Value{}, nil)
	if err != nil || resp.Status != call.Succeeded {
		b.Errorf("%+v, %v", resp, err)
	}
	return resp.Outputs["out"].Text
}

// A handler settles on the clock of the host that has its process now.
func TestPoolSettlement(t *testing.T) {
	t.Parallel()
	lend(t, "", func(l *borrowers) {
		var first string
		l.borrow(func(b *bench) {
			b.load()
			first = b.pid()
		})
		l.borrow(func(b *bench) {
			b.load()
			if second := b.pid(); second != first {
				b.Errorf("the second host has process %s, want %s", second, first)
			}
			h := &held{clk: b.clk}
			resp, _, err := b.invoke("Settle", bindings.StringValue("Complete mine"), func(r *call.Request) { r.Actions = h })
			if got := resp.Outputs["out"].Text; err != nil || got != "Complete: done" || len(h.done) != 1 {
				b.Errorf("%q, %v, done %q", got, err, h.done)
			}
		})
	})
}

// A host has the functions that it loads, whatever the host before it has loaded: in its
// run others may have been in error.
func TestPoolLoads(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"", "collection"} {
		t.Run("odd "+odd, func(t *testing.T) {
			t.Parallel()
			lend(t, odd, func(l *borrowers) {
				l.borrow(func(b *bench) {
					if _, err := b.w.Load(context.Background(), functions()[:1]); err != nil {
						b.Error(err)
					}
				})
				for range 2 {
					l.borrow(func(b *bench) {
						failures, err := b.w.Load(context.Background(), functions())
						if err != nil || failures["Unloadable"] == nil {
							b.Errorf("failures %v, %v", failures, err)
						}
						b.pid()
					})
				}
			})
		})
	}
}

// A process that has hung up or ended while nobody had it is not lent.
func TestPoolLost(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"hangs up", "ends"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			lend(t, "lingers", func(l *borrowers) {
				var pid string
				l.borrow(func(b *bench) {
					b.load()
					pid = b.pid()
					if how == "hangs up" {
						if _, _, err := b.invoke("HangUp", bindings.Value{}, nil); err != nil {
							b.Error(err)
						}
					}
				})
				if how == "ends" {
					n, err := strconv.Atoi(pid)
					check(err)
					p, err := os.FindProcess(n)
					check(err)
					check(p.Kill())
				}
				l.pool.AwaitLost()
				l.borrow(func(b *bench) {
					b.load()
					if again := b.pid(); again == pid {
						b.Error("the process is lent again")
					}
				})
			})
		})
	}
}
