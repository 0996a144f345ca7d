package durable_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/hosttest"
)

// failing takes the failures of a kit's calls in place of the test.
type failing struct {
	*testing.T
	said []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *failing) Failed() bool { return len(f.said) > 0 }

// refused is what a call says that fails.
func (f *failing) refused(call func()) string {
	f.said = nil
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	<-done
	said := strings.Join(f.said, "\n")
	f.said = nil
	return said
}

// The kit for Go drives orchestrations, waits for a year of them, and says what does not hold.
func TestKit(t *testing.T) {
	t.Parallel()
	f := &failing{T: t}
	var h *hosttest.Host
	if said := f.refused(func() { h = startFor(t, f, "node", nil) }); said != "" {
		t.Fatal(said)
	}
	if h == nil {
		t.Skip("without the packages; run make interop")
	}
	ok := func(call func()) {
		t.Helper()
		if said := f.refused(call); said != "" {
			t.Error(said)
		}
	}
	ok(func() {
		id := h.StartOrchestration("Race", `{"cancel":true}`, "r1")
		h.Advance(47 * time.Hour)
		h.RaiseEvent(id, "ok", `"yes"`)
		h.AwaitOrchestration(id, "Completed")
		h.WantOrchestration(id, "Completed", `"yes"`)
		h.WantActivities(id, map[string]int{})
		year := h.AwaitOrchestration(h.StartOrchestration("Year", "0", ""), "Completed")
		if got := year.Updated.Sub(year.Created); year.Output != "365" || got != 365*day {
			t.Errorf("a year: %s after %v", year.Output, got)
		}
		h.WantActivities(h.StartOrchestration("Chain", "", "c1"), map[string]int{"hello": 3})
		h.StartOrchestration("WaitsFor", "", "w1")
		h.StartOrchestration("WaitsFor", "", "w2")
		h.Control("w2", "terminate", "enough")
		h.WantOrchestration("w2", "Terminated", `"enough"`)
		h.Control("w2", "purge", "")
	})
	for _, row := range []struct {
		want string
		call func()
	}{
		{`is Completed with "yes", want Completed with "no"`, func() { h.WantOrchestration("r1", "Completed", `"no"`) }},
		{`is Completed with "yes", want Failed with`, func() { h.WantOrchestration("r1", "Failed", "") }},
		{`No instance with ID 'w2' was found.`, func() { h.WantOrchestration("w2", "Terminated", "") }},
		{`No instance with ID 'r2' was found.`, func() { h.WantActivities("r2", map[string]int{}) }},
		{`has called map[hello:3], want map[]`, func() { h.WantActivities("c1", nil) }},
		{`no activity "Helo"; it has`, func() { h.WantActivities("r1", map[string]int{"Helo": 0}) }},
		{`"w1" has not ended: it is Running and waits for event go; it has met nothing`, func() { h.AwaitOrchestration("w1", "") }},
		{`has ended as Completed, want Failed`, func() { h.AwaitOrchestration("c1", "Failed") }},
		{`No instance with ID 'nobody' was found.`, func() { h.AwaitOrchestration("nobody", "") }},
		{`there is no orchestrator "Chian"; did you mean "Chain"?`, func() { h.StartOrchestration("Chian", "", "") }},
		{`is not the id of an entity`, func() { h.Entity("counter") }},
		{`no entity function "counter"`, func() { h.Entity("@counter@k") }},
		{`No instance with ID 'w2' was found.`, func() { h.Control("w2", "purge", "") }},
	} {
		if said := f.refused(row.call); !strings.Contains(said, row.want) {
			t.Errorf("want %s, got %s", row.want, said)
		}
	}
}
