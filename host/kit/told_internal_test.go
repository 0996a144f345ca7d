package kit

import (
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// A handler that holds time no longer is told of: its timeout is no fault of the app's.
func TestTimeWithoutAHandler(t *testing.T) {
	t.Parallel()
	n := clock.Notice{Kind: clock.PatienceUsedUp, Name: "Ship attempt 1", Real: 10 * time.Second}
	moved := journal.Record{Kind: journal.ClockMoved, Cause: n.Kind.String(), Beside: journal.Beside{Detail: n.String()}}
	if got := without([]journal.Record{{Kind: journal.Received}, moved}); !strings.HasPrefix(got, "\nvirtual time has gone on without a handler: call \"Ship attempt 1\" has been out for 10s") {
		t.Errorf("it says %q", got)
	}
	if got := without([]journal.Record{{Kind: journal.ClockMoved}}); got != "" {
		t.Errorf("of another record it says %q", got)
	}
}

// A wait for a function whose listener cannot start says why.
func TestAListenerThatFails(t *testing.T) {
	t.Parallel()
	w := &wanted{function: "Feed"}
	failed := journal.Record{Kind: journal.FunctionError, Function: "feed", Error: "there is no container"}
	if got := w.instead([]journal.Record{failed}); got != " (it has had no delivery; its listener has failed: there is no container)" {
		t.Errorf("it says %q", got)
	}
	failed.Function = "Ship"
	if got := w.instead([]journal.Record{failed}); got != " (it has had no delivery: was anything sent to it?)" {
		t.Errorf("of another function it says %q", got)
	}
}
