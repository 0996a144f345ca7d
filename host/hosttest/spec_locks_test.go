package hosttest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// sharing is several hosts of one app, with one ID, on one storage account.
type sharing struct {
	*testing.T
	clk     *clock.Virtual
	storage *emulator.Storage
	ran     []string // each run of the timer: host and time
}

func newSharing(t *testing.T) *sharing {
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	return &sharing{T: t, clk: clk, storage: emulator.New(clk, nil)}
}

// start starts a host of that name, whose function Tick has a timer.
func (s *sharing) start(name, schedule string) *host.Host {
	s.Helper()
	return s.startWith(`{"version":"2.0"}`, name, schedule)
}

// startWith is start with that host.json.
func (s *sharing) startWith(hostJSON, name, schedule string) *host.Host {
	s.Helper()
	dir := s.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(hostJSON), 0o644); err != nil {
		s.Fatal(err)
	}
	app := functions.New()
	app.Timer("Tick", schedule, func(_ context.Context, info functions.TimerInfo) error {
		run := name + " " + s.clk.Now().Format("15:04:05")
		if info.IsPastDue {
			run += " past due"
		}
		s.ran = append(s.ran, run)
		return nil
	})
	h, err := host.New(dir, &host.Options{
		Clock: s.clk, KeepRecords: -1, Services: sharedStorage{s.storage}, Instance: name, Handlers: app,
		Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureFunctionsWebHost__hostid=shared"},
	})
	if err != nil {
		s.Fatal(err)
	}
	if err := h.Start(context.Background()); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = h.Close() })
	return h
}

func (s *sharing) blob(name string) blob.Blob {
	return s.storage.Container("azure-webjobs-hosts").Blob(name)
}

func (s *sharing) do(f func(ctx context.Context) error) {
	s.Helper()
	s.clk.Do("test", func() {
		if err := f(context.Background()); err != nil {
			s.Error(err)
		}
	})
}

// lockOf is the state of a lock, and its owner.
func (s *sharing) lockOf(name string) (state string) {
	s.Helper()
	s.do(func(ctx context.Context) error {
		p, err := s.blob(name).Properties(ctx, nil)
		if err == nil {
			state = strings.TrimSpace(string(p.Lease.State) + " " + p.Metadata["FunctionInstance"])
		}
		return err
	})
	return state
}

const (
	primaryLock = "locks/shared/host"
	tickLock    = "locks/shared/Host.Functions.Tick.Listener"
	tickStatus  = "timers/shared/Host.Functions.Tick/status"
)

// Two hosts on one storage: a timer fires once per tick. When the host that has
// the timer stops, the other takes over, and no tick is lost or run twice
// (spec host-and-retry 10.5, 11.2).
func TestTwoHostsOneTick(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	first := s.start("first", "0 */5 * * * *")
	s.start("second", "0 */5 * * * *")
	for _, lock := range []string{primaryLock, tickLock} {
		if got := s.lockOf(lock); got != "leased first" {
			t.Errorf("lock %s: %q, want the lease of the first host", lock, got)
		}
	}
	s.clk.Advance(16 * time.Minute)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s.clk.Advance(10 * time.Minute)
	want := []string{"first 00:05:00", "first 00:10:00", "first 00:15:00", "second 00:20:00", "second 00:25:00"}
	if diff := cmp.Diff(s.ran, want); diff != "" {
		t.Errorf("runs (-got +want):\n%s", diff)
	}
	for _, lock := range []string{primaryLock, tickLock} {
		if got := s.lockOf(lock); got != "leased second" {
			t.Errorf("lock %s: %q, want the lease of the second host", lock, got)
		}
	}
}

// A host that died has the lock to the end of its lease; the host that takes over
// finds the tick that was missed, and runs it once, past due (10.5, D-5).
func TestTakeOverFromADeadHost(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	_ = s.start("dead", "0 */5 * * * *").Close() // leaves its status: next at 00:05:00
	s.clk.Advance(4*time.Minute + 30*time.Second)
	s.do(func(ctx context.Context) error {
		_, err := s.blob(tickLock).AcquireLease(ctx, time.Minute, "", nil)
		return err
	})
	s.start("next", "0 */5 * * * *")
	s.clk.Advance(59 * time.Second)
	if len(s.ran) != 0 {
		t.Fatalf("ran %v while the lock was another's", s.ran)
	}
	s.clk.Advance(5 * time.Minute)
	want := []string{"next 00:05:30 past due", "next 00:10:00"}
	if diff := cmp.Diff(s.ran, want); diff != "" {
		t.Errorf("runs (-got +want):\n%s", diff)
	}
}

// host.json sets the duration of a listener's lock, and how often a host looks
// whether it is free (6.2, 11.2).
func TestListenerLockOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, singleton string
		recovery, lease time.Duration
	}{
		{"default", `{}`, time.Minute, time.Minute},
		{"configured", `{"listenerLockPeriod":"00:00:20","listenerLockRecoveryPollingInterval":"00:00:15"}`, 15 * time.Second, 20 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t)
			hostJSON := `{"version":"2.0","singleton":` + tt.singleton + `}`
			first := s.startWith(hostJSON, "first", "0 0 0 * * *")
			s.startWith(hostJSON, "second", "0 0 0 * * *")
			s.clk.Advance(time.Second)
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			s.clk.Advance(tt.recovery - 2*time.Second)
			if got := s.lockOf(tickLock); got != "available first" {
				t.Errorf("before the second look: %q, want a lock that nobody has", got)
			}
			s.clk.Advance(time.Second)
			if got := s.lockOf(tickLock); got != "leased second" {
				t.Errorf("after the second look: %q, want the text of the second host", got)
			}
			// A lease that is being broken ends no later than it would have anyway.
			s.do(func(ctx context.Context) error {
				now := time.Minute
				_, err := s.blob(tickLock).BreakLease(ctx, &now, nil)
				return err
			})
			s.clk.Advance(25 * time.Second)
			if breaking := s.lockOf(tickLock) == "breaking second"; breaking != (tt.lease > 25*time.Second) {
				t.Errorf("25 s into a lease of %v: %q", tt.lease, s.lockOf(tickLock))
			}
		})
	}
}

// The status of a timer: where it is, and what it says (10.5).
func TestTimerStatusBlob(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	s.start("host", "0 0 * * * *")
	status := func() (text string) {
		t.Helper()
		s.do(func(ctx context.Context) error {
			d, err := s.blob(tickStatus).Get(ctx, nil)
			if err != nil {
				return err
			}
			defer d.Body.Close()
			b, err := io.ReadAll(d.Body)
			text = string(b)
			return err
		})
		return text
	}
	hour := hosttest.Start.Truncate(time.Hour)
	at := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.9999999-07:00") }
	want := fmt.Sprintf(`{"Last":"0001-01-01T00:00:00+00:00","Next":"%s","LastUpdated":"%s"}`, at(hour.Add(time.Hour)), at(hosttest.Start))
	if got := status(); got != want {
		t.Errorf("after the first start:\n%s\nwant\n%s", got, want)
	}
	s.clk.Advance(time.Hour)
	want = fmt.Sprintf(`{"Last":"%s","Next":"%s","LastUpdated":"%[1]s"}`, at(hour.Add(time.Hour)), at(hour.Add(2*time.Hour)))
	if got := status(); got != want {
		t.Errorf("after a tick:\n%s\nwant\n%s", got, want)
	}
}

// A host whose storage no other host can reach keeps the status there too, and no
// locks.
func TestTimerStatusOfALoneHost(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Timer("Tick", "0 0 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Env: []string{"AzureFunctionsWebHost__hostid=shared"}})
	h.Advance(90 * time.Minute)
	h.WantBlob("azure-webjobs-hosts/"+tickStatus, `{"Last":"2030-01-01T01:00:00+00:00","Next":"2030-01-01T02:00:00+00:00","LastUpdated":"2030-01-01T01:00:00+00:00"}`)
	if diff := cmp.Diff(h.Blobs("azure-webjobs-hosts"), []string{tickStatus}); diff != "" {
		t.Errorf("host container (-got +want):\n%s", diff)
	}
}

// A status blob without content counts as none: the timer begins as at its first
// start (10.5).
func TestEmptyTimerStatus(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", " \n", "null"} {
		s := newSharing(t)
		s.do(func(ctx context.Context) error {
			if _, err := s.storage.Container("azure-webjobs-hosts").Create(ctx, nil); err != nil {
				return err
			}
			_, err := s.blob(tickStatus).Put(ctx, strings.NewReader(content), nil)
			return err
		})
		s.start("host", "0 */5 * * * *")
		s.clk.Advance(6 * time.Minute)
		if diff := cmp.Diff(s.ran, []string{"host 00:05:00"}); diff != "" {
			t.Errorf("status %q: runs (-got +want):\n%s", content, diff)
		}
	}
}

// Locks are no news: nothing of them is in the journal.
func TestLocksAreQuiet(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	h := s.start("host", "0 0 0 1 1 *")
	s.clk.Advance(10 * time.Minute)
	var kinds []journal.Kind
	for _, r := range h.Journal().Records() {
		kinds = append(kinds, r.Kind)
	}
	want := []journal.Kind{journal.HostStarted, journal.GenerationLoaded}
	if diff := cmp.Diff(kinds, want); diff != "" {
		t.Errorf("journal of ten quiet minutes (-got +want):\n%s", diff)
	}
}

// While the storage is away a timer goes on for as long as its lock lasts, and
// comes back with the storage.
func TestTimerWithoutStorage(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	away := false
	s := &sharing{T: t, clk: clk, storage: emulator.New(clk, &emulator.Options{Fault: func(emulator.FaultPoint) error {
		if away {
			return storage.NewError("ServerBusy")
		}
		return nil
	}})}
	h := s.start("host", "0 */5 * * * *")
	clk.Advance(4*time.Minute + 40*time.Second)
	away = true
	clk.Advance(6 * time.Minute) // the lease ends at 00:05:30
	away = false
	clk.Advance(5 * time.Minute)
	want := []string{"host 00:05:00", "host 00:10:45 past due", "host 00:15:00"}
	if diff := cmp.Diff(s.ran, want); diff != "" {
		t.Errorf("runs (-got +want):\n%s", diff)
	}
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.Settled && (r.Error != "") != (r.Delivery == "d1") {
			t.Errorf("settled %s with error %q: want one for the first, whose status was not written", r.Delivery, r.Error)
		}
		if r.Kind == journal.FunctionError {
			t.Errorf("a storage that is away is an error: %s", r.Error)
		}
	}
}
