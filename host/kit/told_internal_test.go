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
