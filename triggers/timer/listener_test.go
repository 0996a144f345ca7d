package timer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/timer"
)

func payload(last, next, updated string, pastDue bool) string {
	return fmt.Sprintf(`{"Schedule":{"AdjustForDST":true},"ScheduleStatus":{"Last":%q,"Next":%q,"LastUpdated":%q},"IsPastDue":%t}`, last, next, updated, pastDue)
}

func TestListenerTicks(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-03-15T10:02:00Z")
	s.run(t, "0 */5 * * * *", nil)
	s.v.Advance(10 * time.Minute)
	const none = "0001-01-01T00:00:00+00:00"
	want := []string{
		"10:05:00 run " + payload(none, "2024-03-15T10:05:00+00:00", none, false),
		"10:05:00 settled recorded",
		"10:10:00 run " + payload("2024-03-15T10:05:00+00:00", "2024-03-15T10:10:00+00:00", "2024-03-15T10:05:00+00:00", false),
		"10:10:00 settled recorded",
	}
	if diff := cmp.Diff(s.take(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	ev := s.events[0]
	if ev.Source != "0 */5 * * * *" || ev.DeliveryCount != 0 || ev.CallerWaits || ev.Batch || len(ev.Messages) != 1 {
		t.Errorf("event = %+v", ev)
	}
	if got, want := ev.Messages[0].Metadata["TimerTrigger"], "03/15/2024 10:05:00"; got != want {
		t.Errorf("binding data TimerTrigger = %v, want %v", got, want)
	}
}

// Times in the payload are local, with their offset.
func TestListenerPayloadIsLocal(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2018-03-10T10:31:00Z")
	s.run(t, "0 30 2 * * *", &timer.Options{Location: location(t, "America/Los_Angeles")})
	s.v.Advance(24 * time.Hour)
	const none = "0001-01-01T00:00:00-08:00"
	want := []string{
		"10:30:00 run " + payload(none, "2018-03-11T03:30:00-07:00", none, false),
		"10:30:00 settled recorded",
	}
	if diff := cmp.Diff(s.take(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestListenerStatus has one row for each moment of the table of 10.5 (exttimer:
// ScheduleMonitor.cs, CheckPastDueAsync; TimerListener.cs, InvokeJobFunction).
func TestListenerStatus(t *testing.T) {
	t.Parallel()
	const none = "0001-01-01T00:00:00+00:00"
	status := func(last, next, updated string) string {
		return fmt.Sprintf(`{"Last":%q,"Next":%q,"LastUpdated":%q}`, last, next, updated)
	}
	failure := errors.New("no luck")
	tests := []struct {
		name     string
		schedule string
		stored   string // "" is nothing
		fail     bool
		advance  time.Duration // from 10:02:30
		lines    []string
		want     string
	}{
		{
			name: "first start", schedule: "0 */5 * * * *",
			want: status(none, "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "start before the next tick", schedule: "0 */5 * * * *",
			stored: status("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00"),
			want:   status("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00"),
		},
		{
			name: "past due since the last tick, once for many", schedule: "0 */5 * * * *",
			stored: status("2024-03-15T09:00:00+00:00", "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:00+00:00"),
			lines: []string{
				"10:02:30 run " + payload("2024-03-15T09:00:00+00:00", "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:00+00:00", true),
				"10:02:30 settled recorded",
			},
			want: status("2024-03-15T10:02:30+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "past due since the first start", schedule: "0 */5 * * * *",
			stored: status(none, "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:10+00:00"),
			lines: []string{
				"10:02:30 run " + payload(none, "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:10+00:00", true),
				"10:02:30 settled recorded",
			},
			want: status("2024-03-15T10:02:30+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "neither last nor updated", schedule: "0 */5 * * * *",
			stored: status(none, "2024-03-15T09:05:00+00:00", none),
			want:   status(none, "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "due this very moment is not past due", schedule: "30 2 * * * *",
			stored: status("2024-03-15T09:02:30+00:00", "2024-03-15T10:02:30+00:00", "2024-03-15T09:02:30+00:00"),
			lines: []string{
				"10:02:30 run " + payload("2024-03-15T09:02:30+00:00", "2024-03-15T10:02:30+00:00", "2024-03-15T09:02:30+00:00", false),
				"10:02:30 settled recorded",
			},
			want: status("2024-03-15T10:02:30+00:00", "2024-03-15T11:02:30+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "schedule changed, next in the future", schedule: "0 0 11 * * *",
			stored: status("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00"),
			want:   status(none, "2024-03-15T11:00:00+00:00", "2024-03-15T10:00:00+00:00"),
		},
		{
			name: "schedule changed, next in the past", schedule: "0 */2 * * * *",
			stored: status("2024-03-15T09:00:00+00:00", "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:00+00:00"),
			want:   status(none, "2024-03-15T10:04:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "default dates in another zone", schedule: "0 */5 * * * *",
			stored: status("0001-01-01T00:00:00+02:00", "2024-03-15T09:05:00Z", "0001-01-01T02:00:00+02:00"),
			want:   status(none, "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00"),
		},
		{
			name: "tick done", schedule: "0 */5 * * * *", advance: 150 * time.Second,
			stored: status("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00"),
			lines: []string{
				"10:05:00 run " + payload("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00", false),
				"10:05:00 settled recorded",
			},
			want: status("2024-03-15T10:05:00+00:00", "2024-03-15T10:10:00+00:00", "2024-03-15T10:05:00+00:00"),
		},
		{
			name: "tick given up", schedule: "0 */5 * * * *", advance: 150 * time.Second, fail: true,
			stored: status("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00"),
			lines: []string{
				"10:05:00 run " + payload("2024-03-15T10:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00", false),
				"10:05:00 settled recorded",
			},
			want: status("2024-03-15T10:05:00+00:00", "2024-03-15T10:10:00+00:00", "2024-03-15T10:05:00+00:00"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "2024-03-15T10:02:30Z")
			s.handle = func(context.Context, *triggers.Event) triggers.Result {
				if tt.fail {
					return triggers.Result{Attempts: 3, Err: failure}
				}
				return triggers.Result{Attempts: 1}
			}
			store := new(timer.Memory)
			if tt.stored != "" {
				seed(t, store, tt.stored)
			}
			s.run(t, tt.schedule, &timer.Options{Store: store})
			s.v.Advance(tt.advance)
			if diff := cmp.Diff(s.take(), tt.lines); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			if got := dump(t, store); got != tt.want {
				t.Errorf("stored status:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func seed(t *testing.T, store timer.StatusStore, text string) {
	t.Helper()
	var status timer.Status
	if err := status.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := store.SetStatus(t.Context(), status); err != nil {
		t.Fatal(err)
	}
}

func dump(t *testing.T, store timer.StatusStore) string {
	t.Helper()
	status, err := store.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status == nil {
		return ""
	}
	text, err := status.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestListenerRunOnStartup(t *testing.T) {
	t.Parallel()
	const none = "0001-01-01T00:00:00+00:00"
	t.Run("runs at once, not past due", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "2024-03-15T10:02:30Z")
		s.run(t, "0 */5 * * * *", &timer.Options{RunOnStartup: true})
		want := []string{
			"10:02:30 run " + payload(none, "2024-03-15T10:05:00+00:00", none, false),
			"10:02:30 settled recorded",
		}
		if diff := cmp.Diff(s.take(), want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
		s.v.Advance(150 * time.Second)
		want = []string{
			"10:05:00 run " + payload("2024-03-15T10:02:30+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:02:30+00:00", false),
			"10:05:00 settled recorded",
		}
		if diff := cmp.Diff(s.take(), want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
	})
	t.Run("a past due start takes its place", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "2024-03-15T10:02:30Z")
		store := new(timer.Memory)
		seed(t, store, `{"Last":"2024-03-15T09:00:00Z","Next":"2024-03-15T09:05:00Z","LastUpdated":"2024-03-15T09:00:00Z"}`)
		s.run(t, "0 */5 * * * *", &timer.Options{RunOnStartup: true, Store: store})
		want := []string{
			"10:02:30 run " + payload("2024-03-15T09:00:00+00:00", "2024-03-15T09:05:00+00:00", "2024-03-15T09:00:00+00:00", true),
			"10:02:30 settled recorded",
		}
		if diff := cmp.Diff(s.take(), want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
	})
}

// Without a monitor, by choice or because it ticks too often, nothing is read,
// written or shown.
func TestListenerWithoutMonitor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schedule string
		unmonitored    bool
		want           []string
	}{
		{"useMonitor false", "0 3 * * * *", true, []string{"10:03:00 run " + unmonitored, "10:03:00 settled recorded"}},
		{"several seconds of every minute", "0,45 * * * * *", false, []string{"10:02:45 run " + unmonitored, "10:02:45 settled recorded",
			"10:03:00 run " + unmonitored, "10:03:00 settled recorded"}},
		{"short time span", "00:00:30", false, []string{
			`10:03:00 run {"Schedule":{"AdjustForDST":false},"ScheduleStatus":null,"IsPastDue":false}`, "10:03:00 settled recorded"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "2024-03-15T10:02:30Z")
			store := new(timer.Memory)
			s.run(t, tt.schedule, &timer.Options{Unmonitored: tt.unmonitored, Store: store})
			s.v.Advance(30 * time.Second)
			if diff := cmp.Diff(s.take(), tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			if got := dump(t, store); got != "" {
				t.Errorf("stored status = %s, want nothing", got)
			}
		})
	}
}

// A loop that is longer than the period is followed by one run at once, which is
// not past due, and not by one for each tick that it covered.
func TestListenerLoopLongerThanPeriod(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-03-15T10:00:00Z")
	first := true
	s.handle = func(ctx context.Context, _ *triggers.Event) triggers.Result {
		if first {
			first = false
			if err := s.clk.Sleep(ctx, 12*time.Minute); err != nil {
				t.Error(err)
			}
		}
		return triggers.Result{Attempts: 5, Err: errors.New("no luck")}
	}
	s.run(t, "0 */5 * * * *", &timer.Options{Unmonitored: true})
	s.v.Advance(20 * time.Minute)
	want := []string{
		"10:05:00 run " + unmonitored, "10:17:00 settled recorded",
		"10:17:00 run " + unmonitored, "10:17:00 settled recorded",
		"10:20:00 run " + unmonitored, "10:20:00 settled recorded",
	}
	if diff := cmp.Diff(s.take(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// A wait of more than 24 days is cut in slices, of which the function sees
// nothing.
func TestListenerLongInterval(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-01-01T00:00:00Z")
	s.run(t, "60.00:00:00", &timer.Options{Unmonitored: true})
	begin := s.v.Now()
	if s.v.Next(); s.v.Now().Sub(begin) != 24*24*time.Hour {
		t.Errorf("the first slice was %s", s.v.Now().Sub(begin))
	}
	s.v.Advance(36*24*time.Hour - time.Second)
	if got := s.take(); len(got) > 0 {
		t.Errorf("before the tick: %q", got)
	}
	s.v.Advance(time.Second)
	if got := len(s.take()); got != 2 {
		t.Errorf("%d lines at the tick, want a run and its settlement", got)
	}
}

// Nobody depends on the next tick of a schedule: it is no reason for time to jump.
func TestListenerGivesTimeNoReason(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-01-01T00:00:00Z")
	s.run(t, "0 * * * * *", nil)
	if moved := s.v.Run(time.Hour); moved != 0 {
		t.Errorf("Run moved time by %s", moved)
	}
}

func TestListenerStopsWhileIdle(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-01-01T00:00:00Z")
	s.run(t, "0 * * * * *", nil)
	s.stop()
	if !s.finished || s.err != nil {
		t.Errorf("finished = %t, err = %v; want an end without error", s.finished, s.err)
	}
	s.v.Advance(time.Hour)
	if got := s.take(); len(got) > 0 {
		t.Errorf("after the stop: %q", got)
	}
}

// A stop in the middle of a tick ends its loop, drain or not, and the tick counts
// as done (D-14; 4.2, row Timer).
func TestListenerStopInLoopLosesTick(t *testing.T) {
	t.Parallel()
	for _, draining := range []bool{false, true} {
		t.Run(fmt.Sprintf("draining %t", draining), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "2024-03-15T10:00:00Z")
			s.draining = draining
			s.handle = func(ctx context.Context, _ *triggers.Event) triggers.Result {
				err := s.clk.Sleep(ctx, time.Hour)
				return triggers.Result{Attempts: 1, Err: errors.New("no luck"), Cancelled: err != nil}
			}
			store := new(timer.Memory)
			s.run(t, "0 */5 * * * *", &timer.Options{Store: store})
			s.v.Advance(6 * time.Minute)
			s.take()
			s.stop()
			want := []string{"10:06:00 settled recorded (tick lost: stopped in its retry loop)"}
			if diff := cmp.Diff(s.take(), want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			if !s.finished || s.err != nil {
				t.Errorf("finished = %t, err = %v; want an end without error", s.finished, s.err)
			}
			const status = `{"Last":"2024-03-15T10:05:00+00:00","Next":"2024-03-15T10:10:00+00:00","LastUpdated":"2024-03-15T10:05:00+00:00"}`
			if got := dump(t, store); got != status {
				t.Errorf("stored status:\n got %s\nwant %s", got, status)
			}
			next := newStage(t, "2024-03-15T10:06:30Z")
			next.run(t, "0 */5 * * * *", &timer.Options{Store: store})
			if got := next.take(); len(got) > 0 {
				t.Errorf("the next start ran the lost tick: %q", got)
			}
		})
	}
}

// A crash in the loop leaves the old status behind, and the next start runs the
// tick again (D-5).
func TestListenerCrashInLoopIsPastDue(t *testing.T) {
	t.Parallel()
	store := new(timer.Memory)
	crashed := newStage(t, "2024-03-15T10:00:00Z")
	var before string
	crashed.handle = func(context.Context, *triggers.Event) triggers.Result {
		before = dump(t, store)
		return triggers.Result{}
	}
	crashed.run(t, "0 */5 * * * *", &timer.Options{Store: store})
	crashed.v.Advance(5 * time.Minute)
	seed(t, store, before) // as if nothing had been written after the loop

	s := newStage(t, "2024-03-15T10:06:00Z")
	s.run(t, "0 */5 * * * *", &timer.Options{Store: store})
	want := []string{
		"10:06:00 run " + payload("0001-01-01T00:00:00+00:00", "2024-03-15T10:05:00+00:00", "2024-03-15T10:00:00+00:00", true),
		"10:06:00 settled recorded",
	}
	if diff := cmp.Diff(s.take(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// While the circuit is open ticks are skipped and recorded (14.2).
func TestListenerSkipsWhileCircuitOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t, "2024-03-15T10:00:00Z")
	s.open = true
	s.run(t, "0 */5 * * * *", &timer.Options{Unmonitored: true})
	s.v.Advance(5 * time.Minute)
	s.v.Do("close", func() { s.open = false })
	s.v.Advance(5 * time.Minute)
	want := []string{
		"10:05:00 settled recorded (skipped: circuit open)",
		"10:10:00 run " + unmonitored,
		"10:10:00 settled recorded",
	}
	if diff := cmp.Diff(s.take(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// brokenStore fails as its fields say.
type brokenStore struct {
	timer.Memory
	reads, writes error
}

func (b *brokenStore) Status(ctx context.Context) (*timer.Status, error) {
	if b.reads != nil {
		return nil, b.reads
	}
	return b.Memory.Status(ctx)
}

func (b *brokenStore) SetStatus(ctx context.Context, s timer.Status) error {
	if b.writes != nil {
		return b.writes
	}
	return b.Memory.SetStatus(ctx, s)
}

func TestListenerStoreErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	t.Run("after a tick it is only noted", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, "2024-03-15T10:00:00Z")
		store := new(brokenStore)
		s.run(t, "0 */5 * * * *", &timer.Options{Store: store})
		s.v.Do("break", func() { store.writes = broken })
		s.v.Advance(10 * time.Minute)
		lines := s.take()
		want := []string{"10:05:00 settled recorded: write schedule status: disk on fire", "10:10:00 settled recorded: write schedule status: disk on fire"}
		if diff := cmp.Diff([]string{lines[1], lines[3]}, want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
	})
	for name, store := range map[string]*brokenStore{"read at the start": {reads: broken}, "first write": {writes: broken}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "2024-03-15T10:00:00Z")
			s.run(t, "0 */5 * * * *", &timer.Options{Store: store})
			if !s.finished || !errors.Is(s.err, broken) {
				t.Errorf("finished = %t, err = %v; want an error that says the disk is on fire", s.finished, s.err)
			}
		})
	}
}

func TestListenerOnSystemClock(t *testing.T) {
	t.Parallel()
	s := &stage{clk: clock.System(), settled: map[*triggers.Event]int{}}
	three := make(chan struct{})
	runs := 0
	s.handle = func(context.Context, *triggers.Event) triggers.Result {
		if runs++; runs == 3 {
			close(three)
		}
		return triggers.Result{Attempts: 1}
	}
	s.run(t, "00:00:00.001", nil)
	<-three
}
