package hostlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

const lockName = "locks/host1/Host.Functions.Tick.Listener"

// bench is an account, its clock and the hosts that want the lock.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	storage *emulator.Storage
	fault   error         // of every call, while it is set
	stall   time.Duration // how long the next renewal is on its way
	group   *clock.Group
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, clk: clock.NewVirtual(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})}
	b.storage = emulator.New(b.clk, &emulator.Options{Fault: func(p emulator.FaultPoint) error {
		if p.Op == "RenewLease" && !p.After && b.stall > 0 {
			stall := b.stall
			b.stall = 0
			_ = b.clk.Sleep(context.Background(), stall)
		}
		return b.fault
	}})
	b.group = clock.NewGroup(b.clk, 0)
	return b
}

func (b *bench) do(f func(ctx context.Context)) {
	b.clk.Do("test", func() { f(context.Background()) })
}

// holder is one host: what its Hold does.
type holder struct {
	b      *bench
	cancel context.CancelFunc
	holds  bool
	turns  int // how often it had the lock
	events []hostlock.Event
	ended  bool
	err    error
}

func (b *bench) host(opts hostlock.Options) *holder {
	h := &holder{b: b}
	opts.Notify = func(e hostlock.Event, _ error) { h.events = append(h.events, e) }
	b.do(func(ctx context.Context) {
		ctx, h.cancel = b.clk.WithCancel(ctx)
		lock := hostlock.New(b.clk, b.storage.Container(hostlock.Container), lockName, &opts)
		b.group.Go("host", func() {
			h.err = lock.Keep(ctx, func(held bool) {
				h.holds = held
				if held {
					h.turns++
				}
			})
			h.ended = true
		})
	})
	b.Cleanup(h.stop)
	return h
}

func (h *holder) stop() {
	h.b.do(func(context.Context) { h.cancel() })
}

func (b *bench) want(when string, h *holder, holds bool) {
	b.Helper()
	if h.holds != holds {
		b.Errorf("%s: holds = %v, want %v (events %v)", when, h.holds, holds, h.events)
	}
}

func (b *bench) blob() blob.Blob { return b.storage.Container(hostlock.Container).Blob(lockName) }

func (b *bench) properties() (p *blob.Properties) {
	b.do(func(ctx context.Context) {
		var err error
		if p, err = b.blob().Properties(ctx, nil); err != nil {
			b.Error(err)
		}
	})
	return p
}

// One host has the lock, for as long as it wants; the next has it within the
// time of a retry (spec host-and-retry 11.2).
func TestOneHostAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.host(hostlock.Options{Owner: "first"})
	second := b.host(hostlock.Options{Owner: "second"})
	b.want("start", first, true)
	b.want("start", second, false)
	p := b.properties()
	if p.Lease.State != "leased" || p.Metadata["FunctionInstance"] != "first" {
		t.Errorf("blob: lease %q, metadata %v; want the lease of the first host", p.Lease.State, p.Metadata)
	}
	b.clk.Advance(time.Hour)
	b.want("an hour later", first, true)
	b.want("an hour later", second, false)
	first.stop()
	b.want("stopped", first, false)
	b.clk.Advance(5 * time.Second)
	b.want("5 s after the other stopped", second, true)
	if got := b.properties().Metadata["FunctionInstance"]; got != "second" {
		t.Errorf("FunctionInstance = %q, want the second host", got)
	}
	if !first.ended || first.err != nil {
		t.Errorf("Keep returned %v (%v), want nil", first.err, first.ended)
	}
}

// A host that dies keeps the lock to the end of its lease.
func TestLockOutlivesItsHostByALease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.host(hostlock.Options{}).stop() // makes the blob
	b.do(func(ctx context.Context) {
		if _, err := b.blob().AcquireLease(ctx, hostlock.ListenerLease, "", nil); err != nil {
			t.Fatal(err)
		}
	})
	next := b.host(hostlock.Options{})
	b.clk.Advance(59 * time.Second)
	b.want("within the lease", next, false)
	b.clk.Advance(5 * time.Second)
	b.want("after the lease", next, true)
}

// A host that was killed and is back takes its own lock at once, and nobody
// else's.
func TestReclaim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.host(hostlock.Options{Owner: "first"}).stop() // makes the blob, and signs it
	held := func() {
		b.do(func(ctx context.Context) {
			if _, err := b.blob().AcquireLease(ctx, hostlock.ListenerLease, "", nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	held()
	other := b.host(hostlock.Options{Owner: "second", Reclaim: true})
	b.want("another's lock", other, false)
	same := b.host(hostlock.Options{Owner: "first"})
	b.want("without Reclaim", same, false)
	same.stop()
	back := b.host(hostlock.Options{Owner: "first", Reclaim: true})
	b.want("its own lock", back, true)
	b.clk.Advance(time.Hour)
	b.want("an hour later", back, true)
	b.want("an hour later", other, false)
}

// A lock that another host took ends the work of this one, which then waits.
func TestLostLockEndsTheWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.host(hostlock.Options{})
	b.do(func(ctx context.Context) {
		now := time.Duration(0)
		if _, err := b.blob().BreakLease(ctx, &now, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.blob().AcquireLease(ctx, hostlock.ListenerLease, "", nil); err != nil {
			t.Fatal(err)
		}
	})
	b.clk.Advance(30 * time.Second) // to the renewal
	b.want("taken by another", h, false)
	b.clk.Advance(35 * time.Second)
	b.want("the other is gone", h, true)
	if h.turns != 2 {
		t.Errorf("had the lock %d times, want 2", h.turns)
	}
}

// A storage that was emptied is not a lock that was lost.
func TestWipedStorageKeepsTheLock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.host(hostlock.Options{})
	b.do(func(context.Context) {
		if err := b.storage.Reset(); err != nil {
			t.Fatal(err)
		}
	})
	b.clk.Advance(time.Hour)
	b.want("an hour later", h, true)
	if h.turns != 1 {
		t.Errorf("had the lock %d times, want once", h.turns)
	}
	if state := b.properties().Lease.State; state != "leased" {
		t.Errorf("lease is %q, want leased", state)
	}
}

// Renewals that fail are tried again for as long as the lease lasts.
func TestStorageThatIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.host(hostlock.Options{})
	b.fault = bindings.ErrUnavailable
	b.clk.Advance(59 * time.Second)
	b.want("within the lease", h, true)
	b.fault = nil
	b.clk.Advance(time.Minute)
	b.want("back in time", h, true)
	b.fault = bindings.ErrUnavailable
	b.clk.Advance(61 * time.Second)
	b.want("away for longer than the lease", h, false)
	b.fault = nil
	b.clk.Advance(10 * time.Second)
	b.want("back", h, true)
}

// An error that no waiting can cure ends Hold, unless the lock is patient.
func TestRefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	refused := errors.New("not authorized")
	b.fault = refused
	hasty, patient := b.host(hostlock.Options{}), b.host(hostlock.Options{Patient: true})
	if !errors.Is(hasty.err, refused) || !strings.Contains(hasty.err.Error(), lockName) {
		t.Errorf("Keep = %v, want the refusal, with the lock's name", hasty.err)
	}
	b.clk.Advance(time.Minute)
	b.fault = nil
	b.clk.Advance(5 * time.Second)
	b.want("allowed again", patient, true)
}

// A lock's end has passed because its renewal is late. Work under it waits until its
// owner is known: nothing runs twice (spec host-and-retry 10.5).
func TestSureOfALockWhoseEndHasPassed(t *testing.T) {
	t.Parallel()
	for name, stolen := range map[string]bool{"ours": false, "another host's": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			var sure []string
			b.do(func(ctx context.Context) {
				ctx, cancel := b.clk.WithCancel(ctx)
				t.Cleanup(func() { b.do(func(context.Context) { cancel() }) })
				begun := b.clk.Now()
				ask := func(ctx context.Context, held *hostlock.Held, after time.Duration) {
					b.group.Go("asks", func() {
						_ = b.clk.Idle(context.Background(), after)
						err := held.Sure(ctx)
						sure = append(sure, fmt.Sprint(after, " ", b.clk.Now().Sub(begun), " ", err != nil))
					})
				}
				lock := hostlock.New(b.clk, b.storage.Container(hostlock.Container), lockName, nil)
				b.group.Go("host", func() {
					_ = lock.Hold(ctx, func(ctx context.Context, held *hostlock.Held) error {
						if len(sure) == 0 {
							b.stall = 70 * time.Second // the renewal after 30 s is late
							ask(ctx, held, 20*time.Second)
							ask(ctx, held, 65*time.Second)
						}
						return b.clk.Idle(ctx, time.Hour)
					})
				})
			})
			b.clk.Advance(40 * time.Second)
			if stolen {
				b.host(hostlock.Options{Owner: "another", Retry: 5 * time.Second})
			}
			b.clk.Advance(80 * time.Second)
			want := []string{"20s 20s false", "1m5s 1m40s " + fmt.Sprint(stolen)}
			if diff := cmp.Diff(want, sure[:min(len(sure), 2)]); diff != "" {
				t.Errorf("asked after, sure after, failed (-want +got):\n%s", diff)
			}
		})
	}
}

// The service confirms the lock before its holder writes; a holder that has lost it
// unknowingly is refused.
func TestConfirm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var before, after error
	b.do(func(ctx context.Context) {
		lock := hostlock.New(b.clk, b.storage.Container(hostlock.Container), lockName, nil)
		_ = lock.Hold(ctx, func(ctx context.Context, held *hostlock.Held) error {
			before = held.Confirm(ctx)
			now := time.Duration(0)
			if _, err := b.blob().BreakLease(ctx, &now, nil); err != nil {
				t.Error(err)
			}
			if _, err := b.blob().AcquireLease(ctx, time.Minute, "", nil); err != nil {
				t.Error(err)
			}
			after = held.Confirm(ctx)
			return nil
		})
	})
	if before != nil || !errors.Is(after, storage.ErrLeaseLost) {
		t.Errorf("Confirm = %v, then %v; want nil, ErrLeaseLost", before, after)
	}
}
